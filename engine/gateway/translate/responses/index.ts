import type { ProtocolDialect } from '../conversation.ts';
import { readAnswer, writeAnswer } from './answer.ts';
import { readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { writeRequest } from './write-request.ts';
import { writeStream } from './write-stream.ts';

/** OpenAI's responses, which codex speaks. */
export const responses: ProtocolDialect = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  readStream,
  writeStream,
};
