#include "kernels/products.hpp"

#include <algorithm>
#include <memory>

#include "kernels/dot64.hpp"
#include "kernels/parallel.hpp"
#include "kernels/sum4.hpp"

namespace lockstep::kernels {
namespace {

constexpr std::int64_t first_level = 32 << 10;    // bytes
constexpr std::int64_t second_level = 512 << 10;  // bytes; half of it for a block, the rest for what streams past

std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }
std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return parts(value, multiple) * multiple; }
std::unique_ptr<float[]> scratch(std::int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
}

/// Columns of one task: a block of w that fits into `bytes`, smaller where that leaves too few tasks for the threads.
std::int64_t columns_per_task(std::int64_t n, std::int64_t row_bytes, std::int64_t bytes) {
  constexpr std::int64_t least_tasks = 8;
  return std::clamp<std::int64_t>(std::min(bytes / row_bytes, parts(n, least_tasks)), 1, n);
}

/// Few rows: the speed is that of reading w.
void dot64_few_rows(const Rows& x, const Rows& w, const Sizes& sizes, std::uint16_t* out) {
  const auto batch = sizes.batch, m = sizes.m, n = sizes.n, k = sizes.k;
  const auto wide = scratch(batch * m * k);
  for (std::int64_t i = 0; i < batch * m; ++i) {
    widen_row(x.data + i / m * x.batch_stride + i % m * x.row_stride, k, wide.get() + i * k);
  }
  const auto columns = columns_per_task(n, k * 2, m == 1 ? second_level / 2 : first_level / 2);
  const auto blocks = parts(n, columns);
  for_each_task(batch * blocks, batch * m * n * k, [&](std::int64_t task) {
    const auto b = task / blocks;
    const auto first = task % blocks * columns;
    for (std::int64_t row = 0; row < m; ++row) {
      dot64_row(wide.get() + (b * m + row) * k, w.data + b * w.batch_stride + first * w.row_stride, w.row_stride, k,
                std::min(columns, n - first), out + (b * m + row) * n + first);
    }
  });
}

/// x as panels for all threads, then a block of w's panels for each task, which stays in the second-level cache while
/// the panels of x stream past.
void dot64_panels(const std::uint16_t* x, std::int64_t x_stride, const std::uint16_t* w, std::int64_t w_stride,
                  const Sizes& sizes, float* x_panels, std::uint16_t* out) {
  const auto m = sizes.m, n = sizes.n, k = sizes.k;
  const auto panels = parts(m, x_panel_rows);
  for_each_task(panels, m * k, [&](std::int64_t panel) {
    const auto row = panel * x_panel_rows;
    pack_x_panel(x + row * x_stride, std::min(x_panel_rows, m - row), x_stride, k, x_panels + row * k);
  });
  const auto columns = rounded_up(columns_per_task(n, k * 4, second_level / 2), w_panel_rows);
  for_each_task(parts(n, columns), m * n * k, [&](std::int64_t task) {
    const auto begin = task * columns;
    const auto end = std::min(begin + columns, n);
    const auto w_panels = scratch(columns * k);
    for (auto c = begin; c < end; c += w_panel_rows) {
      pack_w_panel(w + c * w_stride, std::min(w_panel_rows, end - c), w_stride, k, w_panels.get() + (c - begin) * k);
    }
    for (std::int64_t row = 0; row < m; row += x_panel_rows) {
      for (auto c = begin; c < end; c += w_panel_rows) {
        dot64_tile(x_panels + row * k, w_panels.get() + (c - begin) * k, k, std::min(x_panel_rows, m - row),
                   std::min(w_panel_rows, end - c), out + row * n + c, n);
      }
    }
  });
}

}  // namespace

void dot64(const Rows& x, const Rows& w, const Sizes& sizes, std::uint16_t* out) {
  const auto batch = sizes.batch, m = sizes.m, n = sizes.n, k = sizes.k;
  if (m < panel_rows_from) return dot64_few_rows(x, w, sizes, out);
  constexpr std::int64_t most_bytes = 8 << 20;  // of x as panels: well within the last-level cache
  const auto rows = std::min(m, rounded_up(std::max<std::int64_t>(most_bytes / (4 * k), 1), x_panel_rows));
  const auto x_panels = scratch(rounded_up(rows, x_panel_rows) * k);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t row = 0; row < m; row += rows) {
      dot64_panels(x.data + b * x.batch_stride + row * x.row_stride, x.row_stride, w.data + b * w.batch_stride,
                   w.row_stride, {1, std::min(rows, m - row), n, k}, x_panels.get(), out + (b * m + row) * n);
    }
  }
}

void sum4(const Rows& a, const Rows& b, const Sizes& sizes, std::uint16_t* out) {
  const auto batch = sizes.batch, m = sizes.m, n = sizes.n, k = sizes.k;
  const auto blocks = parts(m, sum_tile_rows);
  for_each_task(batch * blocks, batch * m * n * k, [&](std::int64_t task) {
    const auto i = task / blocks;
    const auto first = task % blocks * sum_tile_rows;
    const auto rows = std::min(sum_tile_rows, m - first);
    const auto wide = scratch(rows * k);
    widen_rows(a.data + i * a.batch_stride + first * a.row_stride, rows, a.row_stride, k, wide.get());
    sum4_rows(wide.get(), rows, k, b.data + i * b.batch_stride, b.row_stride, n, out + (i * m + first) * n, n);
  });
}

}  // namespace lockstep::kernels
