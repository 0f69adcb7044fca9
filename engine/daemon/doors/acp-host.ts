/** What the client of the agent client protocol asks about its agent: which errors it has, and what it may do. */
export { isPermitted } from '../../workers/agents/permissions.ts';
export { findStopFailure, judgeAcpError } from '../../workers/agents/streams/acp.ts';
