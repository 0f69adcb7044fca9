/** Reports whether a dotted version is at least another one. */
export function isAtLeast(found: string, needed: string): boolean {
  const parseVersion = (text: string): number[] =>
    text.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [have, want] = [parseVersion(found), parseVersion(needed)];
  for (const [at, number] of want.entries()) {
    const own = have[at] ?? 0;
    if (own !== number) return own > number;
  }
  return true;
}
