const HEIGHTS = '▁▂▃▄▅▆▇█';

/** A column for each value, the highest for the largest; a dot for nothing. */
export function renderSparkline(values: readonly number[]): string {
  const most = Math.max(...values);
  return values
    .map((value) => (value === 0 ? '·' : HEIGHTS[Math.ceil((value / most) * HEIGHTS.length) - 1]))
    .join('');
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of at most `cells` for a value between 0 and `most`. What is more than nothing has at least its thinnest part. */
export function renderBar(value: number, most: number, cells: number): string {
  if (value <= 0 || most <= 0) return '';
  const eighths = Math.min(cells * 8, Math.max(1, Math.round((value / most) * cells * 8)));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
