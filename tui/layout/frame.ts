import { clean, cut, fitLine, width } from '../text.ts';
import { type Line, span } from '../theme.ts';

const SINGLE = { corners: ['╭', '╮', '╰', '╯'], across: '─', down: '│' } as const;
const DOUBLE = { corners: ['╔', '╗', '╚', '╝'], across: '═', down: '║' } as const;

/** Lines in a box of exactly `width` by `height`, title and note in its upper border. A double border is the focus. */
export function frame(
  lines: readonly Line[],
  options: {
    title: string;
    note?: string | undefined;
    width: number;
    height: number;
    focused: boolean;
    left?: number;
  },
): Line[] {
  const { width: cells, height, focused, left = 0 } = options;
  const { corners, across, down } = focused ? DOUBLE : SINGLE;
  const edge = focused ? 'focus' : 'border';
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  const note = options.note ? ` ${cut(clean(options.note), Math.max(0, cells - 12))} ` : '';
  const title = ` ${cut(clean(options.title), Math.max(1, cells - 7 - width(note)))} `;
  const rest = Math.max(0, cells - 4 - width(title) - width(note));
  const top: Line = [
    span(`${topLeft}${across}`, edge),
    span(title, focused ? 'title' : undefined),
    span(across.repeat(rest), edge),
    span(note, 'dim'),
    span(`${across}${topRight}`, edge),
  ];
  const inner = Array.from({ length: Math.max(0, height - 2) }, (_, index): Line => {
    const line = lines[index] ?? [];
    return [span(`${down} `, edge), ...fitLine(line, cells - 4, left), span(` ${down}`, edge)];
  });
  return [top, ...inner, [span(bottomLeft + across.repeat(cells - 2) + bottomRight, edge)]];
}
