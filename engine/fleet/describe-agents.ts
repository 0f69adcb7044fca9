/** Lists the agents of a machine in a sentence: `claude 2.1.0, codex (not logged in)`; `none` without one. */
export const describeMachineAgents = (
  agents: readonly { name: string; version?: string | null; logged_in: boolean | null }[],
): string =>
  agents
    .map(
      ({ name, version = null, logged_in: isLoggedIn }) =>
        `${name}${version === null ? '' : ` ${version}`}${isLoggedIn === false ? ' (not logged in)' : ''}`,
    )
    .join(', ') || 'none';
