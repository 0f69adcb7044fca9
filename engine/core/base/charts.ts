const HEIGHTS = '▁▂▃▄▅▆▇█';

/** Draws a column for each value, the highest for the largest; a dot for zero. */
export function renderSparkline(values: readonly number[]): string {
  const most = Math.max(...values);
  return values
    .map((value) => (value === 0 ? '·' : HEIGHTS[Math.ceil((value / most) * HEIGHTS.length) - 1]))
    .join('');
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar of at most `cells` for a value between 0 and `most`. A positive value has at least the thinnest part. */
export function renderBar(value: number, most: number, cells: number): string {
  if (value <= 0 || most <= 0) return '';
  const eighths = Math.min(cells * 8, Math.max(1, Math.round((value / most) * cells * 8)));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
