import * as z from 'zod';
import { SvcError } from '../core/base/errors.ts';
import { refineWith } from '../core/base/values/duration.ts';
import { httpUrlKey } from '../core/base/values/variable.ts';
import type { Protocol } from './protocol.ts';

/** The address of an upstream and its protocols. */
export interface ProviderEndpoint {
  /** Without a slash at its end. */
  baseUrl: string;
  /** Closest match first. */
  protocols: readonly Protocol[];
}

const trimSlash = (url: string): string => url.replace(/\/+$/, '');

/** The paths in the services' own documentation, which people copy: each implies a protocol. */
const PATHS: readonly (readonly [end: string, Protocol])[] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
];

/**
 * Reads an address. The services' own addresses are known, a path of one protocol or Gemini's version determines the
 * protocol, and any other address speaks `otherwise`.
 */
export function readEndpoint(address: string, otherwise: Protocol = 'chat'): ProviderEndpoint {
  const baseUrl = trimSlash(address);
  const named = PATHS.find(([end]) => baseUrl.endsWith(end));
  if (named !== undefined)
    return { baseUrl: trimSlash(baseUrl.slice(0, -named[0].length)), protocols: [named[1]] };
  const { hostname, pathname } = new URL(baseUrl);
  if (hostname === 'api.anthropic.com' || /\/anthropic(?:\/|$)/.test(pathname))
    return { baseUrl, protocols: ['messages'] };
  const isGoogle = hostname === 'generativelanguage.googleapis.com' && !/\/openai(?:\/|$)/.test(pathname);
  if (isGoogle || pathname.endsWith('/v1beta')) return { baseUrl, protocols: ['gemini'] };
  if (hostname === 'api.openai.com') return { baseUrl, protocols: ['chat', 'responses'] };
  return { baseUrl, protocols: [otherwise] };
}

const refuseEndpoint = (why: string): SvcError => new SvcError('config_invalid', why);

/**
 * Refuses `?`, `#` and credentials: anything that a call adds after them would be lost, and a password would be shown
 * with the address.
 */
function checkBase(address: string): void {
  if (!URL.canParse(address)) return;
  const { username, password, search, hash } = new URL(address);
  if (username !== '' || password !== '')
    throw refuseEndpoint('expected an address without a user name or password; keys belong in api_key_env');
  if (search !== '' || hash !== '') throw refuseEndpoint('expected an address without ? or #');
}

/** Creates a key for the address of an upstream of any protocol. */
export const endpointKey = () => httpUrlKey(true).superRefine(refineWith(checkBase));

/** Creates a key for the address of an upstream of Anthropic's messages; empty means none. */
export const messagesEndpointKey = () =>
  httpUrlKey().superRefine(
    refineWith((address) => {
      checkBase(address);
      if (!URL.canParse(address)) return;
      const [spoken] = readEndpoint(address, 'messages').protocols;
      if (spoken !== 'messages')
        throw refuseEndpoint(
          `expected an upstream for Anthropic’s messages; this is an address for ${spoken}, which belongs in ai.providers`,
        );
    }),
  );

/** Builds an address from `host:port` or a URL; Ollama serves OpenAI clients below `/v1`. */
export function buildOllamaUrl(host: string): string {
  const url = trimSlash(/^https?:\/\//.test(host) ? host : `http://${host}`);
  return url.endsWith('/v1') ? url : `${url}/v1`;
}

/** Creates a key for the address of an Ollama; empty means none. */
export const ollamaKey = () =>
  z.string().superRefine(
    refineWith((host) => {
      if (host === '') return;
      if (!URL.canParse(buildOllamaUrl(host))) throw refuseEndpoint('expected host:port or an address');
      checkBase(buildOllamaUrl(host));
    }),
  );
