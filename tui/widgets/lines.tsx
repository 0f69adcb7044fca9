import { Text } from 'ink';
import type { ReactNode } from 'react';
import { type Paint, paint } from '../text/paint.ts';
import type { Line } from '../text/theme.ts';

/** Lines as one text node: rows that are strings cost a frame less than rows that are boxes. */
export function Lines({ lines, ...how }: { lines: readonly Line[] } & Paint): ReactNode {
  return lines.length === 0 ? null : <Text>{paint(lines, how)}</Text>;
}
