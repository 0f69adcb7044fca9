import { cutToWidth, formatCount, makeTitle, toPrintable } from '../../core/base/text.ts';
import type { DiffComment } from './rows.ts';

/** The parts of a follow-up, in addition to a person's own words. */
export interface FollowUpMaterial {
  session: string;
  branch: string | null;
  /** `outdated`: the branch has moved since. */
  comments: readonly (Pick<DiffComment, 'path' | 'side' | 'line' | 'text' | 'body' | 'head'> & {
    outdated: boolean;
  })[];
  /** The conflicts of a merge, with the base; null for none. */
  conflict: { base: string; paths: readonly string[] } | null;
}

const LONGEST_QUOTE = 200;

/** Formats a follow-up as one message: conflicts first, since they change the lines that follow. */
export function writeFollowUpMessage(material: FollowUpMaterial, words = ''): string {
  const { conflict, comments } = material;
  return [
    words.trim(),
    conflict === null ? '' : describeConflict(material.branch, conflict),
    comments.length === 0 ? '' : describeComments(material),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The lines that such a message starts with if a person has written none. */
const OPENINGS = [
  { line: /^Merge (\S+) into your branch.*, and resolve the conflicts\.$/, name: 'conflicts with $1' },
  { line: /^Deal with (\d+ comments?) on your work in s-\d+:$/, name: '$1' },
] as const;

/** Returns a title for such a message: the person's words, otherwise the continued task and the reason. */
export function titleFollowUp(message: string, former: string): string {
  const title = makeTitle(message);
  const opening = OPENINGS.find(({ line }) => line.test(title));
  if (opening === undefined) return title;
  const first = /^follow-up of (.+): (?:conflicts with \S+|\d+ comments?)$/.exec(former)?.[1] ?? former;
  return makeTitle(`follow-up of ${first}: ${title.replace(opening.line, opening.name)}`);
}

const describeConflict = (
  branch: string | null,
  { base, paths }: NonNullable<FollowUpMaterial['conflict']>,
): string =>
  [
    `Merge ${base} into your branch${branch === null ? '' : ` ${branch}`}, and resolve the conflicts.`,
    '',
    `Your work no longer merges into ${base}: both have changed`,
    ...paths.map((path) => `- ${toPrintable(path)}`),
    '',
    `Run \`git merge ${base}\` in your worktree, resolve each of these files so that the intent of both sides is kept, run the tests, and commit the merge. Do not rebase, and change nothing on ${base} itself.`,
  ].join('\n');

function describeComments({ session, comments }: FollowUpMaterial): string {
  return [
    `Deal with ${formatCount(comments.length, 'comment')} on your work in ${session}:`,
    ...comments.map(({ path, side, line, text, body, head, outdated }) => {
      const notes = [
        ...(side === 'old' ? ['a line that you removed or changed'] : []),
        ...(outdated ? [`on an older version, ${head.slice(0, 10)}`] : []),
      ];
      const place = `${toPrintable(path)}:${line}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
      const quote = cutToWidth(toPrintable(text), LONGEST_QUOTE, (each) => each.length);
      return `\n${place}\n> ${quote}\n${body}`;
    }),
  ].join('\n');
}
