# SPDX-License-Identifier: BSL-1.0
# What mutants change: a table of patterns and what stands in their place.
"""A pattern is C++ in tokens with a space between them. What is changed stands in «»; $x is an argument, $* all that is
left up to the closing bracket, $i an identifier, and $r before a member the object that it is of, which may be absent.
In the replacement {is} is whether the change is made, {n} its number, {code} what was there, {r} the object.

A change must leave a program that compiles, and one that the compiler cannot tell from the right one."""

ONE_OF = "::onto_mutant::"

# kind -> what the page says of it.
KINDS = {
    "barrier": "a `__syncthreads` left out",
    "shuffle": "a shuffle one lane off, or by half of a warp",
    "wait": "a stream that does not wait for another",
    "record": "an event that is not recorded",
    "synchronize": "the host does not wait",
    "stream": "work in another stream",
    "device": "the wrong GPU",
    "grid": "a grid, or a number of units, one short",
    "bound": "`<` for `<=`, and the like",
    "offset": "an address, a length or an index off by one",
    "layout": "rows for columns, one operand's strides for another's",
    "free": "memory or a handle given back too early",
    "kept": "memory or a handle that is not given back",
    "status": "a status that is not looked at",
}

LEFT_OUT = "if (!{is}) {code}"
SUCCEEDS = "({is} ? cudaSuccess : {code})"
OTHER_STREAM = ONE_OF + "other_stream<{n}>({code})"
OTHER = ONE_OF + "other<{n}>({code})"
MORE = ONE_OF + "more<{n}>({code})"
FEWER = ONE_OF + "fewer<{n}>({code})"

RULES = [
    ("barrier", "«__syncthreads ( ) ;»", LEFT_OUT),
    ("barrier", "«__syncwarp ( $* ) ;»", LEFT_OUT),
    ("shuffle", "__shfl_down_sync ( $x , $x , «$x» ,", MORE),
    ("shuffle", "__shfl_up_sync ( $x , $x , «$x» ,", MORE),
    ("shuffle", "__shfl_xor_sync ( $x , $x , «$x» ,", MORE),
    ("shuffle", "__shfl_sync ( $x , $x , «$x» ,", MORE),
    ("shuffle", "__shfl_sync ( «$x» ,", "({is} ? 0xffffu : {code})"),
    ("shuffle", "__shfl_down_sync ( «$x» ,", "({is} ? 0xffffu : {code})"),
    ("shuffle", "__shfl_xor_sync ( «$x» ,", "({is} ? 0xffffu : {code})"),

    ("wait", "«cudaStreamWaitEvent ( $* )»", SUCCEEDS),
    ("wait", "«follow ( $* ) ;»", LEFT_OUT),
    ("wait", "«$r join ( $* ) ;»", LEFT_OUT),
    ("wait", "«$r begin_at ( $* ) ;»", LEFT_OUT),
    ("wait", "«$r before_launch ( $* ) ;»", LEFT_OUT),
    ("wait", "«$r after_launch ( $* ) ;»", LEFT_OUT),
    ("record", "«cudaEventRecord ( $* )»", SUCCEEDS),
    ("record", "«$r record ( $* ) ;»", LEFT_OUT),
    ("synchronize", "«cudaStreamSynchronize ( $* )»", SUCCEEDS),
    ("synchronize", "«cudaEventSynchronize ( $* )»", SUCCEEDS),
    ("synchronize", "«cudaDeviceSynchronize ( )»", SUCCEEDS),
    ("synchronize", "«$r synchronize ( ) ;»", LEFT_OUT),

    ("stream", "«$r in ( )»", "({is} ? {r}out() : {code})"),
    ("stream", "«$r out ( )»", "({is} ? {r}in() : {code})"),
    ("stream", "«$r compute ( )»", "({is} ? {r}in() : {code})"),
    ("stream", "launch ( «$x» , $x , $x , $x", OTHER_STREAM),
    ("stream", "cudaMemcpyAsync ( $x , $x , $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaMemcpyPeerAsync ( $x , $x , $x , $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaMemsetAsync ( $x , $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaEventRecord ( $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaStreamWaitEvent ( «$x» ,", OTHER_STREAM),
    ("stream", "cudaLaunchHostFunc ( «$x» ,", OTHER_STREAM),
    ("stream", "cudaGraphLaunch ( $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaMallocFromPoolAsync ( $x , $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaMallocAsync ( $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaFreeAsync ( $x , «$x» )", OTHER_STREAM),
    ("stream", "cudaStreamSynchronize ( «$x» )", OTHER_STREAM),
    ("stream", "cublasLtMatmul ( $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , $x , «$x» )",
     OTHER_STREAM),
    ("stream", "copy_straight ( $x , $x , $x , $x , «$x» )", OTHER_STREAM),
    ("stream", "follow ( «$x» , $x )", OTHER_STREAM),
    ("stream", "follow ( $x , «$x» )", OTHER_STREAM),
    ("stream", ". pass ( «$x» , $x , $x , $x", OTHER_STREAM),
    ("stream", ". pass ( $x , «$x» , $x , $x", OTHER_STREAM),
    ("stream", ". pass_through ( $x , «$x» ,", OTHER_STREAM),

    ("device", "current_cuda_device $i ( «$x» )", OTHER),
    ("device", "cudaSetDevice ( «$x» )", OTHER),
    ("device", "«cudaSetDevice ( $* )»", SUCCEEDS),
    ("device", "quietly_on ( «$x» ,", OTHER),
    ("device", "cudaMemcpyPeerAsync ( $x , «$x» ,", OTHER),
    ("device", "cudaMemcpyPeerAsync ( $x , $x , $x , «$x» ,", OTHER),
    ("device", "location . id = «$x» ;", OTHER),
    ("device", "cudaDeviceCanAccessPeer ( $x , «$x» , $x )", OTHER),
    ("device", "cudaDeviceCanAccessPeer ( $x , $x , «$x» )", OTHER),
    ("device", "facts_of_cuda_device ( «$x» )", OTHER),

    ("grid", "«grid_blocks ( $* )»", FEWER),
    ("grid", "«divide_up ( $* )»", FEWER),
    ("grid", "$r blocks = «$x» ;", FEWER),
    ("grid", "$r pieces = «$x» ;", FEWER),
    ("grid", "$r per_piece = «$x» ;", FEWER),

    ("offset", "device_load ( «$x» )", MORE),
    ("offset", "device_store ( «$x» ,", MORE),
    ("offset", "for ( int $i = «$x» ;", MORE),
    ("offset", "for ( std :: int64_t $i = «$x» ;", MORE),
    ("offset", "cudaMemcpyAsync ( $x , $x , «$x» ,", FEWER),
    ("offset", "cudaMemcpyPeerAsync ( $x , $x , $x , $x , «$x» ,", FEWER),
    ("offset", "cudaMemsetAsync ( $x , $x , «$x» ,", FEWER),
    ("offset", "copy_straight ( $x , $x , «$x» ,", FEWER),
    ("offset", "memcpy ( $x , $x , «$x» )", FEWER),
    ("offset", "«threadIdx . x»", MORE),
    ("offset", "«blockIdx . x»", MORE),
    ("offset", "«blockIdx . y»", MORE),
    ("offset", "+ «1»", FEWER),
    ("offset", "- «1»", FEWER),

    ("layout", "«$r column ( $x )»", "({is} ? {r}row({x}) : {code})"),
    ("layout", "«$r row ( $x )»", "({is} ? {r}column({x}) : {code})"),
    ("layout", "stride [ «0» ]", OTHER),
    ("layout", "stride [ «1» ]", FEWER),
    ("layout", "offset ( $x , $x , «0» )", OTHER),
    ("layout", "offset ( $x , $x , «1» )", FEWER),
    ("layout", "«$r transposed»", "({is} != {code})"),
    ("layout", "«$r first_transposed»", "({is} != {code})"),
    ("layout", "«$r second_transposed»", "({is} != {code})"),
    ("layout", "«$r leading»", MORE),
    ("layout", "«$r addend_leading»", MORE),
    ("layout", "«$r width»", "({is} ? {r}depth : {code})"),
    ("layout", "«$r depth»", "({is} ? {r}width : {code})"),
    ("layout", "«$r per_piece»", "({is} ? {r}pieces : {code})"),
    ("layout", "«plan_ . m»", "({is} ? plan_.n : {code})"),
    ("layout", "«plan_ . n»", "({is} ? plan_.m : {code})"),
    ("layout", "«plan_ . a» .", "({is} ? plan_.b : {code})"),
    ("layout", "«plan_ . b» .", "({is} ? plan_.a : {code})"),
    ("layout", "«plan_ . a_batch»", "({is} ? plan_.b_batch : {code})"),
    ("layout", "«plan_ . b_batch»", "({is} ? plan_.a_batch : {code})"),
    ("layout", "at [ «0» ]", OTHER),
    ("layout", "at [ «1» ]", FEWER),

    ("free", "return «ref < counted > ( ref < shared_workspace > ( workspace_ ) )» ;", "({is} ? ref<counted>() : {code})"),
    ("free", "if ( «ring . kept_» )", "(!{is} && {code})"),
    ("free", "«taken_ += size ;»", "{code} if ({is} && pool_) (void)cudaFreeAsync(memory, stream_);"),
    ("free", "«feeds_ = new feed { $* } ;»", "{code} if ({is}) pinned.close();"),
    ("free", "«status = cudaStreamWaitEvent ( $x , event , $x )» ;", "({is} ? (void)cudaEventDestroy(event) : (void)0, {code})"),
    ("free", "«$r graph = captured ;»", "{code} if ({is}) (void)cudaGraphDestroy(captured);"),

    ("kept", "«cudaFree ( $* )»", SUCCEEDS),
    ("kept", "«cudaFreeAsync ( $* )»", SUCCEEDS),
    ("kept", "«cudaFreeHost ( $* )»", SUCCEEDS),
    ("kept", "«cudaEventDestroy ( $* )»", SUCCEEDS),
    ("kept", "«cudaStreamDestroy ( $* )»", SUCCEEDS),
    ("kept", "«cudaMemPoolDestroy ( $* )»", SUCCEEDS),
    ("kept", "«cudaMemPoolTrimTo ( $* )»", SUCCEEDS),
    ("kept", "«cudaGraphDestroy ( $* )»", SUCCEEDS),
    ("kept", "«cudaGraphExecDestroy ( $* )»", SUCCEEDS),
    ("kept", "«cublasLtDestroy ( $* )»", "({is} ? CUBLAS_STATUS_SUCCESS : {code})"),

    ("status", "cuda_check ( «$x» ,", ONE_OF + "unchecked<{n}>({code})"),
    ("status", "cublas_check ( «$x» ,", ONE_OF + "unchecked<{n}>({code})"),
    ("status", "( void ) «cudaGetLastError ( )»", SUCCEEDS),
]

# Operators between expressions, as clang-format spaces them.
OPERATORS = {
    "<": ("bound", "less"),
    "<=": ("bound", "less_equal"),
    ">": ("bound", "greater"),
    ">=": ("bound", "greater_equal"),
}
# Comparisons of a status with success: as if it were one.
SUCCESSES = {"cudaSuccess", "CUBLAS_STATUS_SUCCESS"}
