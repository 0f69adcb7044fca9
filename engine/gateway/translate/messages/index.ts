import type { ProtocolDialect } from '../conversation.ts';
import { readAnswer, writeAnswer } from './answer.ts';
import { readRequest } from './read-request.ts';
import { readStream, writeStream } from './stream.ts';
import { writeRequest } from './write-request.ts';

/** Anthropic's messages, which Claude Code speaks. */
export const messages: ProtocolDialect = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  readStream,
  writeStream,
};
