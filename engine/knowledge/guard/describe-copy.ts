import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { CopyFinding, WriteReport } from './writes/check-writes.ts';

const LIKENESS = {
  1: 'identical',
  2: 'the same except for names and literals',
  3: 'the same with small edits',
} as const;

/** Describes a file that the comparison could not follow, in one line. */
export const describeLost = ({ path, line }: WriteReport['lost'][number]): string =>
  toPrintable(`${path}:${line}: not compared from here on: the quote or comment has no end`);

/** Describes the similarity of two pieces of code as a clause. */
export const describeCopyType = (type: CopyFinding['type']): string => LIKENESS[type];

/** Describes a copy in one line: `src/b.ts:3-40 (load) repeats src/a.ts:10-47 (read), identical`. */
export function describeCopy(copy: CopyFinding): string {
  const { original, type, coverage, others } = copy;
  const share = coverage > 0 ? `, ${Math.round(coverage * 100)} % of the function` : '';
  const more = others.length === 0 ? '' : `; also at ${others.join(', ')}`;
  return toPrintable(
    `${formatPlace(copy)} repeats ${formatPlace(original)}: ${LIKENESS[type]}${share}${more}`,
  );
}

interface Place {
  path: string;
  from: number;
  to: number;
  name: string | null;
}

const formatPlace = ({ path, from, to, name }: Place): string =>
  `${path}:${from}-${to}${name === null ? '' : ` (${name})`}`;

/** Maximum copies reported per write, each with the first lines of the original. */
const MOST_TOLD = 3;

/** Writes the message for an agent about copies that it is about to write. */
export function tellOfCopies(copies: readonly CopyFinding[], isDenied: boolean): string {
  const told = copies.slice(0, MOST_TOLD).map((copy) => {
    const excerpt = toPrintable(copy.original.excerpt, { lines: true }).replaceAll('\n', '\n    ');
    return `${describeCopy(copy)}. It starts there with:\n    ${excerpt}`;
  });
  const more = copies.length - told.length;
  const left = more > 0 ? [`${formatCount(more, 'more copy', 'more copies')} in this write.`] : [];
  const next = isDenied
    ? 'Nothing was written. Call or import the existing code, or extend it for both uses, then write the rest.'
    : 'This code already exists in the project. Call, import or extend it instead of keeping a second copy; continue if it must be separate.';
  return [...told, ...left, next].join('\n');
}
