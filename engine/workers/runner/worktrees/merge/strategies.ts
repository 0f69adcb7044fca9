/** The ways into the base: with a merge commit, as rebased commits, or as one commit. */
export const PROMOTE_STRATEGIES = ['merge', 'rebase', 'squash'] as const;

export type PromoteStrategy = (typeof PROMOTE_STRATEGIES)[number];
