/** The part of an impact that a one-line summary needs. */
interface ReadImpactState {
  summary: string;
  note: string | null;
  exact: string | null;
}

/** Summarises the impact of a change in one line. A disabled compiler is not mentioned, an outdated one is. */
export function formatImpact({ summary, note, exact }: ReadImpactState): string {
  const lack = exact === null || exact === 'off' ? null : `exact edges: ${exact}`;
  return [summary, note, lack].filter((each) => each !== null).join('; ');
}
