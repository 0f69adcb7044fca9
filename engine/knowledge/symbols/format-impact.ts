/** As much of an impact as a line about it takes. */
interface ReadImpactState {
  summary: string;
  note: string | null;
  exact: string | null;
}

/** What a change reaches, in a line. That the project's compiler is off is nothing to say there, that it lags behind is. */
export function formatImpact({ summary, note, exact }: ReadImpactState): string {
  const lack = exact === null || exact === 'off' ? null : `exact edges: ${exact}`;
  return [summary, note, lack].filter((each) => each !== null).join('; ');
}
