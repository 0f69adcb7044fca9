import { Text } from 'ink';
import { Table } from 'ink-table';
import type { PropsWithChildren, ReactElement } from 'react';
import { paintLines } from '../text/paint.ts';
import { type StyledLine, span, type Theme } from '../text/theme.ts';

interface Props {
  /** Each line is a name and a value. */
  lines: readonly StyledLine[];
  theme: Theme | null;
}

/**
 * A table of names and values that seldom change: each cell is a component, which is too slow for a live list. The frame
 * around it is its only border, since a grid would take every other line of a small screen.
 */
export function StillTable({ lines, theme }: Props): ReactElement {
  const styles = new Map(lines.map(([, said]) => [said?.text, said?.style] as const));
  const TableCell = ({ column, children }: PropsWithChildren<{ column: number }>): ReactElement => {
    const text = String(children);
    const style = column === 0 ? 'dim' : styles.get(text.trim());
    return <Text wrap="truncate">{paintLines([[span(text, style)]], { theme })}</Text>;
  };
  const data = lines.map(([name, said]) => ({ name: name?.text.trim() ?? '', said: said?.text ?? '' }));
  return (
    <Table data={data} columns={['name', 'said']} header={EmptyCell} skeleton={EmptyCell} cell={TableCell} />
  );
}

const EmptyCell = (): ReactElement => <></>;
