/** Functions for the client of the agent client protocol: its agent's errors and permissions. */
export { isPermitted } from '../agents/permissions.ts';
export { findStopFailure, judgeAcpError } from '../agents/streams/acp.ts';
