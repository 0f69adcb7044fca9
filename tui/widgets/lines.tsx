import { Text } from 'ink';
import type { ReactNode } from 'react';
import { type PaintOptions, paintLines } from '../text/paint.ts';
import type { StyledLine } from '../text/theme.ts';

/** Lines as a single text node, since a box for each line would make frames slower. */
export function TextLines({ lines, ...how }: { lines: readonly StyledLine[] } & PaintOptions): ReactNode {
  return lines.length === 0 ? null : <Text>{paintLines(lines, how)}</Text>;
}
