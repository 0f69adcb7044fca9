import type { ProtocolDialect } from '../conversation.ts';
import { readAnswer, writeAnswer } from './answer.ts';
import { readRequest } from './read-request.ts';
import { readStream, writeStream } from './stream.ts';
import { writeRequest } from './write-request.ts';

/** OpenAI's chat completions, which most providers speak. */
export const chat: ProtocolDialect = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  readStream,
  writeStream,
};
