import { NO_FACTS, type StreamReader } from './stream.ts';

/** Reads what `svc acp run` prints. */
export const acpReader = (): StreamReader => ({ line: (text) => text, facts: () => NO_FACTS });
