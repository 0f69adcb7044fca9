/** When a worker reads a message; `never` once it has ended. */
export type ReadingTime = 'tool_call' | 'turn_end' | 'asks' | 'never';

/** Words that follow the name of the session. */
export const READING_WORDS: Readonly<Record<ReadingTime, string>> = {
  tool_call: 'reads it at its next tool call',
  turn_end: 'reads it when its turn ends, as its next prompt',
  asks: 'reads it when it checks its inbox; nothing notifies it while it works',
  never: 'has ended and does not read it',
};
