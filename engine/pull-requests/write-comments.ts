import type { Verification } from '../board/verify/index.ts';
import { toPrintable } from '../core/base/text.ts';
import { quoteWorker } from './write-body.ts';

const MOST_CHARACTERS = 8000;

/** Quotes each line, so that none is a command for svc or for another program that reads comments. */
function quoteLines(text: string): string {
  const cut =
    text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS).toWellFormed()}\n(cut)`;
  return toPrintable(cut, { lines: true })
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** Writes an agent's answer to a review. @param commit the commit that it made; null for none */
export function writeReply({ summary }: Pick<Verification, 'summary'>, commit: string | null): string {
  const what = commit === null ? 'without a commit' : `with the commit ${commit.slice(0, 10)}`;
  const answer = summary === null ? '' : `:\n\n${quoteLines(quoteWorker(summary))}`;
  return `The agent has dealt with this review, ${what}${answer || '. It has written no answer.'}`;
}

/** Writes for an issue how its pull request has ended. */
export const writeEnd = (state: 'merged' | 'closed', url: string): string =>
  state === 'merged' ? `Merged by ${url}.` : `Its pull request was closed without a merge: ${url}.`;
