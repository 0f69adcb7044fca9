import type { Protocol } from '../protocol.ts';
import { chat } from './chat.ts';
import type { ProtocolFace } from './face.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export { isUsageOnly } from './chat.ts';
export { type ProtocolFace, parseEventData, type UsageMeter } from './face.ts';
export { type ProviderFault, writeFault } from './fault.ts';

export const FACES: Readonly<Record<Protocol, ProtocolFace>> = { chat, responses, messages, gemini };

/** The purpose of a request. */
export interface ProtocolRoute {
  /** The protocol of the answer. */
  protocol: Protocol;
  kind: 'generate' | 'count' | 'embed' | 'models' | 'root';
  /** The model, if the path names it; null if the body does, or if none is needed. */
  model: string | null;
  /** True if the path requests a stream. */
  isStream: boolean;
}

const POSTS: Readonly<Record<string, Pick<ProtocolRoute, 'protocol' | 'kind'>>> = {
  '/v1/chat/completions': { protocol: 'chat', kind: 'generate' },
  '/v1/responses': { protocol: 'responses', kind: 'generate' },
  '/v1/embeddings': { protocol: 'chat', kind: 'embed' },
  '/v1/messages': { protocol: 'messages', kind: 'generate' },
  '/v1/messages/count_tokens': { protocol: 'messages', kind: 'count' },
};

const GEMINI_CALL = /^\/v1(?:beta|alpha)?\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;

/** Recognises a request by its method and path; null if nothing here serves it. */
export function findRoute(
  method: string,
  path: string,
  headers: NodeJS.Dict<string | string[]>,
): ProtocolRoute | null {
  if (method === 'POST') {
    const known = Object.hasOwn(POSTS, path) ? POSTS[path] : undefined;
    if (known !== undefined) return { ...known, model: null, isStream: false };
    const [, name, verb] = GEMINI_CALL.exec(path) ?? [];
    if (name === undefined) return null;
    return {
      protocol: 'gemini',
      kind: verb === 'countTokens' ? 'count' : 'generate',
      model: decodeName(name),
      isStream: verb === 'streamGenerateContent',
    };
  }
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (path === '/') return { protocol: 'chat', kind: 'root', model: null, isStream: false };
  const [, version, name] = /^\/(v1|v1beta)\/models(?:\/(.+))?$/.exec(path) ?? [];
  if (version === undefined) return null;
  return {
    protocol: guessProtocol(path, headers),
    kind: 'models',
    model: name === undefined ? null : decodeName(name),
    isStream: false,
  };
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The protocol of a path, by its prefix. */
const STARTS: Readonly<Record<string, Protocol>> = {
  v1beta: 'gemini',
  'v1/messages': 'messages',
  'v1/responses': 'responses',
  'v1/chat': 'chat',
  'v1/embeddings': 'chat',
};

/** Returns the protocol for answering a request that nothing here serves. */
export function guessProtocol(path: string, headers: NodeJS.Dict<string | string[]>): Protocol {
  const [, start = ''] = /^\/(v1beta|v1\/[a-z]+)(?:\/|$)/.exec(path) ?? [];
  const named = GEMINI_CALL.test(path) ? 'gemini' : Object.hasOwn(STARTS, start) ? STARTS[start] : undefined;
  if (named !== undefined) return named;
  if (isOfGoogle(headers)) return 'gemini';
  return headers['anthropic-version'] === undefined ? 'chat' : 'messages';
}

/** Reports whether a request comes from Google's libraries, which also request `/v1/models`, like others. */
const isOfGoogle = (headers: NodeJS.Dict<string | string[]>): boolean =>
  headers['x-goog-api-key'] !== undefined || headers['x-goog-api-client'] !== undefined;
