// The words of guard.profile, as far as they say what keeps a worker from the machine.

/**
 * Ranks profiles by how much they keep from a worker. The middle ones differ only in their hooks, which guard nothing
 * here.
 */
const rankProfile = (profile: string): number => (profile === 'strict' ? 2 : profile === 'none' ? 0 : 1);

export const isStrongerProfile = (one: string, other: string): boolean =>
  rankProfile(one) > rankProfile(other);

/** The profile that keeps more from a worker; the first of two equal ones. */
export const chooseStrongerProfile = (one: string, other: string): string =>
  isStrongerProfile(other, one) ? other : one;
