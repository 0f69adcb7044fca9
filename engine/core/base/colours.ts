/**
 * Reports whether to use colour. SVC_FORCE_COLOR decides if it is set, then NO_COLOR (any nonempty value, see
 * no-color.org), then the terminal.
 */
export function usesColour(env: NodeJS.ProcessEnv, out: { isTTY?: boolean }): boolean {
  const forced = (env.SVC_FORCE_COLOR ?? '').toLowerCase();
  if (forced !== '') return !['0', 'false', 'no', 'off'].includes(forced);
  if (env.NO_COLOR) return false;
  return out.isTTY === true && env.TERM !== 'dumb';
}
