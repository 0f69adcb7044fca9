import { formatCount } from '../../engine/core/base/text.ts';
import { formatImpact } from '../../engine/index.ts';
import { findDetail } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { ListedImpact } from '../state/rows.ts';
import { cleanText, truncateText, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { renderHeading, renderProblem } from './lines.ts';

/** Renders what the work of a session reaches: changed symbols, their callers, tests, and unknowns. */
export function renderImpactLines(state: State, session: string, cells: number): StyledLine[] {
  const loaded = findDetail(state, 'impact', session);
  if (loaded?.problem) return renderProblem({ message: loaded.problem }, cells);
  if (!loaded?.detail) return [[span(`reading the code … ${cleanText(loaded?.progress ?? '')}`, 'dim')]];
  return listImpactLines(loaded.detail, cells);
}

/** Returns the impact as a fact, for a person who is about to promote. */
export function createImpactFact(state: State, session: string): readonly [string, string, TextStyle?] {
  const loaded = findDetail(state, 'impact', session);
  if (loaded?.problem) return ['impact', `unknown: ${loaded.problem}`, 'warn'];
  if (!loaded?.detail) return ['impact', `reading the code … ${loaded?.progress ?? ''}`, 'dim'];
  return ['impact', formatImpact(loaded.detail)];
}

function listImpactLines(impact: ListedImpact, cells: number): StyledLine[] {
  const { symbols, reached, tests, more, empty, note, exact, not_indexed: unknown, removed } = impact;
  const wrap = (text: string, style?: TextStyle): StyledLine[] =>
    wrapText(cleanText(text), cells).map((part) => [span(part, style)]);
  const listed = (heading: string, items: readonly string[]): StyledLine[] =>
    items.length === 0
      ? []
      : [
          [],
          renderHeading(heading),
          ...items.map((each): StyledLine => [span(`  ${truncateText(cleanText(each), cells - 2)}`)]),
        ];
  const callers = reached as readonly ReachedRow[];
  return [
    ...(empty === 'no_changes' || empty === 'not_indexed' ? [] : wrap(impact.summary)),
    ...(empty === null && note === null
      ? []
      : wrap([empty?.replaceAll('_', ' '), note].filter(Boolean).join(': '), 'warn')),
    ...(exact === null ? [] : wrap(`exact edges: ${exact}`, 'dim')),
    ...listed('changed symbols', symbols),
    ...(callers.length === 0 ? [] : [[], renderHeading('reached (confidence, step)')]),
    ...callers.flatMap((each) => renderReached(each, cells)),
    ...listed('tests that reach them', tests),
    ...listed('not indexed', unknown),
    ...listed('removed', removed),
    ...(more > 0
      ? [
          [],
          [
            span(`and ${formatCount(more, 'more line')}: svc graph impact --limit shows them`, 'warn'),
          ] as StyledLine,
        ]
      : []),
  ];
}

type ReachedRow = ListedImpact['reached'][number];

function renderReached(
  { symbol, hop, confidence, line, through, test }: ReachedRow,
  cells: number,
): StyledLine[] {
  const lead = `  ${confidence.toFixed(1)} ${hop} `;
  const what = truncateText(cleanText(symbol), cells - lead.length);
  const rest = ` by ${cleanText(through)}, line ${line}${test ? ', test' : ''}`;
  return [
    [
      span(lead, confidence < WEAK ? 'warn' : 'dim'),
      span(what),
      ...(what.length + rest.length + lead.length <= cells ? [span(rest, 'dim')] : []),
    ],
  ];
}

/** Below this confidence, an edge was found by a name alone. */
const WEAK = 0.5;
