// SPDX-License-Identifier: BSL-1.0
// What a training tells: its progress, a learning curve as SVG, a confusion matrix.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace report {

/// Of a training: how far it is, how fast, and how long it still takes.
class progress {
 public:
  explicit progress(int epochs) : epochs_(epochs), begin_(clock::now()), epoch_(begin_) {}

  double seconds() const { return since(begin_); }

  /// One line for an epoch of so many images.
  void print(int epoch, int images, double loss, double accuracy) {
    const double took = since(epoch_), left = seconds() / (epoch + 1) * (epochs_ - epoch - 1);
    std::printf("epoch %2d of %d: loss %.4f, accuracy %.2f %%, %.0f images/s, %.1f s left\n", epoch + 1, epochs_, loss,
                100 * accuracy, images / took, left);
    std::fflush(stdout);
    epoch_ = clock::now();
  }

 private:
  using clock = std::chrono::steady_clock;
  static double since(clock::time_point t) { return std::chrono::duration<double>(clock::now() - t).count(); }

  int epochs_;
  clock::time_point begin_, epoch_;
};

/// How often what is of one class was taken for another.
class confusion_matrix {
 public:
  explicit confusion_matrix(int classes)
      : classes_(classes), counts_(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {}

  void add(int is, int guess) { ++counts_[at(is, guess)]; }
  double accuracy() const {
    long right = 0, all = 0;
    for (int is = 0; is < classes_; ++is)
      for (int guess = 0; guess < classes_; ++guess) {
        all += counts_[at(is, guess)];
        right += is == guess ? counts_[at(is, guess)] : 0;
      }
    return all > 0 ? static_cast<double>(right) / static_cast<double>(all) : 0;
  }
  std::string text() const {
    std::ostringstream out;
    out << " is | taken for\n    |";
    for (int guess = 0; guess < classes_; ++guess) out << pad(std::to_string(guess));
    out << "\n----+" << std::string(static_cast<std::size_t>(4 * classes_), '-') << '\n';
    for (int is = 0; is < classes_; ++is) {
      out << pad(std::to_string(is)).substr(1) << " |";
      for (int guess = 0; guess < classes_; ++guess) {
        const int n = counts_[at(is, guess)];
        out << pad(n > 0 ? std::to_string(n) : ".");
      }
      out << '\n';
    }
    return out.str();
  }

 private:
  std::size_t at(int is, int guess) const {
    return static_cast<std::size_t>(is) * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(guess);
  }
  static std::string pad(const std::string& word) {
    return std::string(word.size() < 4 ? 4 - word.size() : 0, ' ') + word;
  }

  int classes_;
  std::vector<int> counts_;
};

/// A curve over epochs, in its own scale from 0 to its greatest value.
struct curve {
  std::string name, color;
  std::vector<double> values;
};

/// Writes curves as a picture; no program is needed to look at it but a browser.
inline void write_svg(const std::string& path, const std::string& title, const std::vector<curve>& curves) {
  constexpr int width = 640, height = 320, margin = 40;
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
      << "\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"white\"/>\n<text x=\""
      << margin << "\" y=\"24\">" << title << "</text>\n<path d=\"M" << margin << ' ' << margin << 'V'
      << height - margin << 'H' << width - margin << "\" fill=\"none\" stroke=\"gray\"/>\n";
  int line = 0;
  for (const curve& c : curves) {
    const double most = c.values.empty() ? 1 : std::max(1e-9, *std::max_element(c.values.begin(), c.values.end()));
    out << "<polyline fill=\"none\" stroke=\"" << c.color << "\" stroke-width=\"2\" points=\"";
    for (std::size_t k = 0; k < c.values.size(); ++k) {
      const double across = c.values.size() > 1 ? static_cast<double>(k) / static_cast<double>(c.values.size() - 1) : 0;
      out << margin + across * (width - 2 * margin) << ','
          << height - margin - c.values[k] / most * (height - 2 * margin) << ' ';
    }
    out << "\"/>\n<text x=\"" << width - 5 * margin << "\" y=\"" << height / 2 + 18 * line++ << "\" fill=\"" << c.color
        << "\">" << c.name << ", to " << most << "</text>\n";
  }
  out << "</svg>\n";
}

}  // namespace report
