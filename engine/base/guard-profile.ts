// The words of guard.profile, as far as they say what keeps a worker from the machine.

/** How much a profile keeps from a worker. The hooks' own differences between those in the middle guard nothing here. */
const rankProfile = (profile: string): number => (profile === 'strict' ? 2 : profile === 'none' ? 0 : 1);

export const isStrongerProfile = (one: string, other: string): boolean =>
  rankProfile(one) > rankProfile(other);

/** The one that keeps more from a worker; the first of two that keep as much. */
export const chooseStrongerProfile = (one: string, other: string): string =>
  isStrongerProfile(other, one) ? other : one;
