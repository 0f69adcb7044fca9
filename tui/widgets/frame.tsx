import { Box } from 'ink';
import type { ReactNode } from 'react';
import { hasSureWidth, measureCells } from '../text/cells.ts';
import { fitLine, makeDrawable, makeLineDrawable, truncateText } from '../text/text.ts';
import { type StyledLine, span, type Theme, toPlainText } from '../text/theme.ts';
import { TextLines } from './lines.tsx';

const SINGLE = { corners: ['╭', '╮', '╰', '╯'], across: '─', down: '│' } as const;
const DOUBLE = { corners: ['╔', '╗', '╚', '╝'], across: '═', down: '║' } as const;

/** The content of a box. The layout decides its size. */
export interface FrameContent {
  title: string;
  /** At the right end of the upper border. */
  note?: string | undefined;
  lines: readonly StyledLine[];
  /** True if the box has the keyboard, which a double border shows. */
  focused: boolean;
  /**
   * True if the box spans the screen, for reading. Characters of unsure width are shown as they are, and their lines
   * have no right border, which would move.
   */
  isWhole?: boolean;
}

interface Props extends FrameContent {
  width: number;
  height: number;
  theme: Theme | null;
  /** Shown instead of the lines. */
  children?: ReactNode;
}

/**
 * A box of exactly `width` by `height`. The borders are separate texts, which seldom change: Ink parses every text again
 * for every frame, and lines without borders are shorter and mostly ASCII.
 */
export function Frame({
  title,
  note,
  lines,
  focused,
  isWhole = false,
  width: cells,
  height,
  theme,
  children,
}: Props): ReactNode {
  const { corners, across, down } = focused ? DOUBLE : SINGLE;
  const edge = focused ? 'focus' : 'border';
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  const right = note ? ` ${truncateText(makeDrawable(note), Math.max(0, cells - 12))} ` : '';
  const name = ` ${truncateText(makeDrawable(title), Math.max(1, cells - 7 - measureCells(right)))} `;
  const top: StyledLine = [
    span(`${topLeft}${across}`, edge),
    span(name, focused ? 'title' : undefined),
    span(across.repeat(Math.max(0, cells - 4 - measureCells(name) - measureCells(right))), edge),
    span(right, 'dim'),
    span(`${across}${topRight}`, edge),
  ];
  const inside = Math.max(0, height - 2);
  const shown = lines
    .slice(0, inside)
    .map((line) => fitLine(isWhole ? line : makeLineDrawable(line), cells - 4));
  const side: StyledLine[] = Array.from({ length: inside }, () => [span(down, edge)]);
  const rightSide = side.map((border, index) =>
    isWhole && !hasSureWidth(toPlainText(shown[index] ?? [])) ? [span(' ')] : border,
  );
  return (
    <Box flexDirection="column" width={cells} height={height}>
      <TextLines lines={[top]} theme={theme} />
      <Box height={inside}>
        <TextLines lines={side} theme={theme} />
        <Box width={cells - 2} paddingX={1} overflow="hidden">
          {children ?? <TextLines lines={shown} {...{ theme, isWhole }} />}
        </Box>
        <TextLines lines={rightSide} theme={theme} />
      </Box>
      <TextLines lines={[[span(bottomLeft + across.repeat(cells - 2) + bottomRight, edge)]]} theme={theme} />
    </Box>
  );
}
