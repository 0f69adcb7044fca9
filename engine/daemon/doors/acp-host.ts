/** Functions for the client of the agent client protocol: its agent's errors and permissions. */
export { isPermitted } from '../../workers/agents/permissions.ts';
export { findStopFailure, judgeAcpError } from '../../workers/agents/streams/acp.ts';
