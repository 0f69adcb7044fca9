import type { ProtocolDialect } from '../conversation.ts';
import { readAnswer, writeAnswer } from './answer.ts';
import { readRequest } from './read-request.ts';
import { readStream, writeStream } from './stream.ts';
import { writeRequest } from './write-request.ts';

/** Google's generateContent, which Gemini CLI speaks. Model and streaming are given in the path, not in the body. */
export const gemini: ProtocolDialect = {
  readRequest,
  writeRequest,
  readAnswer,
  writeAnswer,
  readStream,
  writeStream,
};
