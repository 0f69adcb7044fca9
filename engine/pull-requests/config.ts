import * as z from 'zod';

/** The names that a pattern of a branch may contain. */
const PLACES = /\{(?:issue|slug|task|session)\}/g;

/** Reports whether git accepts a pattern as a branch name once its places are filled (git-check-ref-format(1)). */
function isBranchPattern(pattern: string): boolean {
  const filled = pattern.replace(PLACES, 'x');
  return (
    /^[A-Za-z0-9_][A-Za-z0-9._/-]*$/.test(filled) &&
    filled.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
    !/\.\.|\.$/.test(filled) &&
    pattern.match(PLACES) !== null
  );
}

/** When svc opens pull requests by itself. */
export const PULL_REQUEST_WISHES = ['off', 'draft', 'ready'] as const;
export type PullRequestOpening = (typeof PULL_REQUEST_WISHES)[number];

/** The reaction to a failed check of an open pull request. */
export const RED_WISHES = ['off', 'ask', 'auto'] as const;
export type RedWish = (typeof RED_WISHES)[number];

/** The keys of a template, or of a project, about pull requests; those of the template come first. */
export const pullRequestFields = {
  pull_request: z.enum(PULL_REQUEST_WISHES).optional().meta({
    description:
      'whether the branch of a run that ended well is pushed and gets a pull request, by the git and the gh, glab or tea of the person: off, draft or ready',
  }),
  branch: z
    .string()
    .max(100)
    .refine(isBranchPattern, 'expected a branch name with {issue}, {slug}, {task} or {session}')
    .optional()
    .meta({
      description:
        "name of the pushed branch, such as svc/{issue}-{slug}; {task} and {session} are ids; default: the session's branch",
    }),
  on_red: z.enum(RED_WISHES).optional().meta({
    description:
      'the follow-up of a failed check of an open pull request: ask (default) waits for approval, auto starts it for authors who need none, off makes none',
  }),
  max_rounds: z.int().min(1).max(20).optional().meta({
    description: 'how many follow-ups of failed checks auto starts for one pull request; 2 by default',
  }),
  reply: z.boolean().optional().meta({
    description: "whether an agent's answer to a review is posted as a comment on its pull request",
  }),
  comment: z.boolean().optional().meta({
    description: 'whether the issue of a pull request gets a comment once that is merged or closed',
  }),
};

/** The keys of `pullRequestFields`, as read. */
export interface PullRequestKeys {
  pull_request?: PullRequestOpening | undefined;
  branch?: string | undefined;
  on_red?: RedWish | undefined;
  max_rounds?: number | undefined;
  reply?: boolean | undefined;
  comment?: boolean | undefined;
}

/** How the pull request of a session is opened. */
export interface PullRequestPolicy {
  opening: PullRequestOpening;
  /** The pattern of the branch's name; null for the session's branch. */
  branch: string | null;
  onRed: RedWish;
  /** Follow-ups of failed checks that are started without approval, for one pull request. */
  mostRounds: number;
  /** True if the agent's answer to a review is posted at the code host. */
  isReplying: boolean;
  /** True if the end of the pull request is posted at its issue. */
  isCommenting: boolean;
}

/** Combines the keys of a task's template with those of its project. */
export const combinePolicies = (
  template: PullRequestKeys | undefined,
  project: PullRequestKeys | undefined,
): PullRequestPolicy => ({
  opening: template?.pull_request ?? project?.pull_request ?? 'off',
  branch: template?.branch ?? project?.branch ?? null,
  onRed: template?.on_red ?? project?.on_red ?? 'ask',
  mostRounds: template?.max_rounds ?? project?.max_rounds ?? 2,
  isReplying: template?.reply ?? project?.reply ?? false,
  isCommenting: template?.comment ?? project?.comment ?? false,
});
