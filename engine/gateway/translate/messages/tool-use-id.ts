import { createHash } from 'node:crypto';

/** The id of a call as the protocol accepts it: the same for the call and for its result, whoever writes it. */
export const fitToolUseId = (id: string): string =>
  /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
