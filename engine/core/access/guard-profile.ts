// The values of guard.profile, as far as they determine what a worker can do on the machine.

/** Ranks profiles by how much they restrict a worker. The middle ones differ only in their hooks, which restrict nothing here. */
const rankProfile = (profile: string): number => (profile === 'strict' ? 2 : profile === 'none' ? 0 : 1);

export const isStrongerProfile = (one: string, other: string): boolean =>
  rankProfile(one) > rankProfile(other);

/** Returns the stricter profile; the first of two equal ones. */
export const chooseStrongerProfile = (one: string, other: string): string =>
  isStrongerProfile(other, one) ? other : one;
