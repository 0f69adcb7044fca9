import type { TextContributor } from './texts.ts';

const MOST_COMMITS = 20;

const explainCause = (cause: string | null): string => (cause === null ? '' : ` The reason: ${cause}.`);

/**
 * Tells a continuing run about the earlier work: only that if its agent remembers, otherwise with the task. A
 * follow-up with another task always gets it.
 */
export const recallEarlierRun = (): TextContributor[] => [
  {
    name: 'task',
    text: 'resumption',
    section: 'task',
    write: ({ task, earlier }) =>
      earlier === null || (earlier.isRemembered && earlier.followed === null) ? [] : [task.prompt.trimEnd()],
  },
  {
    name: 'earlier run',
    text: 'resumption',
    section: 'context',
    write({ earlier }) {
      if (earlier === null) return [];
      if (earlier.followed !== null) return describeFollowUp(earlier.followed, earlier);
      const why = explainCause(earlier.cause);
      if (earlier.isRemembered)
        return [`You were interrupted.${why} Resume your task where you stopped; check git status first.`];
      return [
        '---',
        `An earlier run of this task was interrupted.${why} You are in its folder: its work is here. Review it, keep what is good, and finish the task.`,
        ...listCommits(earlier.commits),
      ];
    },
  },
];

const describeFollowUp = (
  { taskId, title }: { taskId: string; title: string },
  { isRemembered, commits }: { isRemembered: boolean; commits: Parameters<typeof listCommits>[0] },
): string[] =>
  isRemembered
    ? [
        '---',
        `This follows up your work on ${taskId}, in the same folder and on the same branch; check git status first.`,
      ]
    : [
        '---',
        `This follows up the work on ${taskId} (${title}). You are in its folder and on its branch: its work is here. Review it first.`,
        ...listCommits(commits),
      ];

function listCommits(commits: readonly { id: string; subject: string }[] | null): string[] {
  if (commits === null) return [];
  if (commits.length === 0) return ['Nothing was committed yet.'];
  const newest = commits.slice(0, MOST_COMMITS);
  const more = commits.length - newest.length;
  return [
    'Its commits, newest first:',
    ...newest.map(({ id, subject }) => `- ${id.slice(0, 10)} ${subject}`),
    ...(more === 0 ? [] : [`- and ${more} more`]),
  ];
}
