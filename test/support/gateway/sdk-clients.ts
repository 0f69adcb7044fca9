/** The official clients of the model protocols, against a local server that answers as the test specifies. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Protocol, SseEvent } from '../../../engine/gateway/protocol.ts';
import type { Json } from './plain-protocols.ts';

export interface SdkClients {
  /** Returns the client's own whole answer for a stream. Throws the client's errors. */
  readStream(protocol: Protocol, events: readonly SseEvent[]): Promise<Json>;
  /** Returns the client's result for a whole answer or an error. */
  readAnswer(protocol: Protocol, status: number, body: object): Promise<Json>;
  close(): Promise<void>;
}

const formatSse = ({ event, data }: SseEvent): string =>
  `${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`;

const ASKED = [{ role: 'user' as const, content: 'hi' }];

export async function startSdkClients(): Promise<SdkClients> {
  let next: { status: number; type: string; body: string } = { status: 500, type: 'text/plain', body: '' };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(next.status, { 'content-type': next.type, connection: 'close' }).end(next.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const openai = new OpenAI({ apiKey: 'test', baseURL: `${url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: 'test', baseURL: url, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: url } });

  async function joinGemini(): Promise<Json> {
    const parts: Json[] = [];
    let whole: Json = {};
    const chunks = await google.models.generateContentStream({ model: 'm', contents: 'hi' });
    for await (const chunk of chunks) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      whole = { ...whole, ...JSON.parse(JSON.stringify(chunk)) };
    }
    return { ...whole, candidates: [{ ...whole.candidates?.[0], content: { role: 'model', parts } }] };
  }

  const streams: Record<Protocol, () => Promise<Json>> = {
    chat: () =>
      openai.chat.completions
        .stream({ model: 'm', messages: ASKED, stream_options: { include_usage: true } })
        .finalChatCompletion(),
    responses: () => openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse(),
    messages: () =>
      anthropic.messages.stream({ model: 'm', max_tokens: 100, messages: ASKED }).finalMessage(),
    gemini: joinGemini,
  };
  const answers: Record<Protocol, () => Promise<Json>> = {
    chat: () => openai.chat.completions.create({ model: 'm', messages: ASKED }),
    responses: () => openai.responses.create({ model: 'm', input: 'hi' }),
    messages: () => anthropic.messages.create({ model: 'm', max_tokens: 100, messages: ASKED }),
    gemini: () => google.models.generateContent({ model: 'm', contents: 'hi' }),
  };

  return {
    readStream(protocol, events) {
      next = { status: 200, type: 'text/event-stream', body: events.map(formatSse).join('') };
      return streams[protocol]();
    },
    readAnswer(protocol, status, body) {
      next = { status, type: 'application/json', body: JSON.stringify(body) };
      return answers[protocol]();
    },
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
