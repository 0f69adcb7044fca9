import type { ModelLimits } from '../../core/models/index.ts';
import { findJsonMembers, type JsonEdit, readJsonValue, replaceBytes } from '../json-members.ts';
import type { Protocol } from '../protocol.ts';
import { NO_USAGE, type TokenUsage } from '../tokens.ts';
import {
  createTranslation,
  dropSealedReasoning,
  type ProtocolTranslation,
  SEAL_MARK,
} from '../translate/index.ts';
import { sendBody, sendFailure } from './answer.ts';
import { type AttemptResult, tryUpstream } from './attempt.ts';
import { type ClientPresence, estimateUsage, type GatewayCall, setUsage } from './call.ts';
import { buildUpstreamHeaders } from './credentials.ts';
import type { HeldBytes } from './held-bytes.ts';
import { parseHoldingTexts } from './held-texts.ts';
import { answerCount } from './local.ts';
import { findLimits } from './model-names.ts';
import type { ProviderRouting, RouteCandidate } from './routing.ts';
import type { UpstreamClient, UpstreamLimits, UpstreamRequest } from './upstream.ts';

/** Limits for the duration of a call and the size of its answer. */
export interface ForwardLimits extends UpstreamLimits {
  /** Same as `firstByteMs`, while another provider could be called instead. */
  shortFirstByteMs: number;
  /** No further attempt starts after that time, ms. */
  deadlineMs: number;
  attempts: number;
  /** Delay before the same provider is called again, ms. */
  pauseMs: number;
  keepAliveMs: number;
  slowClientMs: number;
  mostBytes: number;
}

export interface ForwardDeps {
  routing: ProviderRouting;
  upstreams: UpstreamClient;
  limits: ForwardLimits;
  /** Called when the row of the call changed. */
  onProgress(call: GatewayCall): void;
  /** Called with the part of the answer that the client was sent; null if not needed. */
  onSent: ((chunk: Buffer | string) => void) | null;
  held: HeldBytes;
}

/** The outcome of a call that went to upstreams. */
export interface ForwardResult {
  status: number;
  outcome: 'ok' | 'failed' | 'cut' | 'client_gone';
  /** The content type of a stream as sent to its client. */
  type?: string | null;
}

/** The request to an upstream, and the changes to undo in its answer. */
interface Prepared {
  request: Omit<UpstreamRequest, 'limits'>;
  /** True if svc requested the usage of a stream, not the client. */
  asksForUsage: boolean;
  stripsUsage: boolean;
  translator: ProtocolTranslation | null;
}

/**
 * Calls the candidates in turn until one answers; after the first byte to the client no other one is called. The row
 * of the call has the usage.
 */
export async function forwardCall(
  call: GatewayCall,
  candidates: readonly RouteCandidate[],
  deps: ForwardDeps,
): Promise<ForwardResult> {
  const { limits, routing } = deps;
  const { response, row, face } = call;
  const deadline = performance.now() + limits.deadlineMs;
  let last: Extract<AttemptResult, { kind: 'failed' }> | null = null;
  let queue = [...candidates];
  let wasted = 0;
  /** This attempt repeats the previous one without requesting usage. */
  let isWithoutUsage = false;
  for (let tries = 0; tries < limits.attempts && queue.length > 0; tries += 1) {
    const [candidate, ...rest] = queue as [RouteCandidate, ...RouteCandidate[]];
    queue = rest;
    const { provider, model } = candidate;
    row.provider = provider.name;
    row.model = model;
    let prepared: Prepared;
    try {
      prepared = prepareRequest(call, candidate, {
        limits: findLimits(routing, provider, model),
        mayAskForUsage: !isWithoutUsage && !routing.healthOf(provider.name).refusesUsageOption,
      });
    } catch (error) {
      sendFailure(response, face, { status: 400, ...describeRefusal(error) });
      return { status: 400, outcome: 'failed' };
    }
    const isLast = queue.length === 0;
    const request = {
      ...prepared.request,
      limits: { ...limits, firstByteMs: isLast ? limits.firstByteMs : limits.shortFirstByteMs },
    };
    setUsage(row, { ...NO_USAGE, input: wasted + call.promptTokens }, true);
    const onProgress = (usage: TokenUsage | null, events: number, bytes: number): void => {
      const seen = estimateUsage(usage, {
        prompt: call.promptTokens,
        bytesOut: bytes,
        events,
        isStream: true,
      });
      setUsage(row, { ...seen, input: seen.input + wasted }, true);
      row.bytes_out = bytes;
      deps.onProgress(call);
    };
    const attempted = await tryUpstream(
      call,
      candidate,
      request,
      { ...deps, ...limits, onProgress },
      prepared,
    );
    if (attempted.kind === 'answered') {
      const { usage, events, bytes, firstByteAt, outcome, status, fault } = attempted;
      const isExact = usage !== null && outcome === 'ok';
      const seen = isExact
        ? usage
        : estimateUsage(usage, {
            prompt: call.promptTokens,
            bytesOut: bytes,
            events,
            isStream: call.isStream,
          });
      setUsage(row, { ...seen, input: seen.input + wasted }, !isExact || wasted > 0);
      row.bytes_out = bytes;
      row.first_byte_ms = firstByteAt === null ? null : firstByteAt - call.startedAt;
      if (isWithoutUsage && outcome === 'ok') routing.healthOf(provider.name).refusesUsageOption = true;
      if (outcome === 'ok') routing.recordSuccess(provider.name);
      else if (fault !== null) routing.recordFault(provider.name, fault);
      closeWhenStuck(call, limits.slowClientMs);
      return { status, outcome, type: attempted.type };
    }
    if (!isWithoutUsage && prepared.asksForUsage && mayRefuseUsageOption(attempted)) {
      isWithoutUsage = true;
      queue = [candidate, ...queue];
      continue;
    }
    isWithoutUsage = false;
    last = attempted;
    if (attempted.isFault)
      routing.recordFault(provider.name, attempted.failure.message, attempted.retryAfterMs);
    // A client's own mistake is the same everywhere.
    if (!attempted.asksOthers) break;
    // An upstream that does not answer may still have processed the call.
    if (attempted.failure.code === 'upstream_timeout') wasted += call.promptTokens;
    if (call.client.isGone || performance.now() > deadline) break;
    if (queue.length === 0 && attempted.mayRepeat && tries + 1 < limits.attempts) {
      const pause = limits.pauseMs * 2 ** tries;
      if (performance.now() + pause > deadline) break;
      await pauseUnlessGone(call.client, pause);
      if (call.client.isGone) break;
      queue = [candidate];
    }
  }
  setUsage(row, { ...NO_USAGE, input: wasted }, wasted > 0);
  if (call.client.isGone) return { status: 499, outcome: 'client_gone' };
  return relayFailure(call, last);
}

/** Reports whether the option that svc adds may have caused a refusal: the error names it, or gives no reason. */
function mayRefuseUsageOption({ failure, said }: Extract<AttemptResult, { kind: 'failed' }>): boolean {
  if (failure.status === 422) return true;
  return failure.status === 400 && /stream_options|include_usage/.test(said);
}

function describeRefusal(error: unknown): { code: string; message: string } {
  if (error instanceof SyntaxError) return { code: 'body_invalid', message: 'the body is not a JSON object' };
  if (error instanceof RangeError)
    return { code: 'body_invalid', message: 'the body is nested too deeply to be translated' };
  return { code: 'not_translatable', message: (error as Error).message };
}

function pauseUnlessGone(client: ClientPresence, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(goOn, ms);
    client.onGone = goOn;
    function goOn(): void {
      clearTimeout(timer);
      client.onGone = null;
      resolve();
    }
  });
}

/** An upstream that has the protocol but cannot count tokens. */
const COUNTS_NOTHING = new Set([404, 405, 501]);

function relayFailure(
  call: GatewayCall,
  last: Extract<AttemptResult, { kind: 'failed' }> | null,
): ForwardResult {
  const { response, face } = call;
  if (last === null) {
    sendFailure(response, face, { status: 503, code: 'no_provider', message: 'no provider could be called' });
    return { status: 503, outcome: 'failed' };
  }
  const { failure, relayed, headers } = last;
  if (call.route.kind === 'count' && COUNTS_NOTHING.has(failure.status)) {
    answerCount(call);
    return { status: 200, outcome: 'ok' };
  }
  if (relayed === null) sendFailure(response, face, failure, headers);
  else sendBody(response, failure.status, relayed, headers);
  return { status: failure.status, outcome: 'failed' };
}

/** Closes the connection of a client that does not read its answer, so that it is not kept forever. */
function closeWhenStuck({ response }: GatewayCall, ms: number): void {
  if (response.writableFinished || response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), ms);
  response.once('close', () => clearTimeout(timer));
}

const PATHS: Readonly<Record<Exclude<Protocol, 'gemini'>, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/v1/messages',
};

/** Returns the path of a call. OpenAI's base address includes the version, others' do not; a person may write either. */
function pathFor(protocol: Protocol, call: GatewayCall, model: string, baseUrl: string): string {
  const { route, credentials } = call;
  const hasVersion = /\/v1(?:beta)?$/.test(baseUrl);
  if (protocol === 'gemini') {
    const verb =
      route.kind === 'count' ? 'countTokens' : call.isStream ? 'streamGenerateContent' : 'generateContent';
    const [version = '/v1beta'] = /^\/v1(?:beta|alpha)?(?=\/models)/.exec(credentials.path) ?? [];
    const path = `${hasVersion ? '' : version}/models/${encodeURIComponent(model)}:${verb}`;
    const query = route.protocol === 'gemini' ? credentials.query : '';
    return `${path}${call.isStream ? askForEvents(query) : query}`;
  }
  const query = route.protocol === protocol ? credentials.query : '';
  if (route.kind === 'embed') return `/embeddings${query}`;
  if (protocol !== 'messages') return `${PATHS[protocol]}${query}`;
  const path = hasVersion ? '/messages' : PATHS.messages;
  return `${path}${route.kind === 'count' ? '/count_tokens' : ''}${query}`;
}

/** Requests a stream as events, in any form that its client wants. */
function askForEvents(query: string): string {
  const kept = query
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !/^(?:\$|%24)?alt=/.test(part));
  return `?${[...kept, 'alt=sse'].join('&')}`;
}

/** The protocol that translations are written for. */
const MESSAGES_VERSION = '2023-06-01';

/** Minimum share of the context that is left for the answer, because the prompt size is an estimate. */
const LEAST_ROOM = 1 / 8;

/** Limits the answer: servers refuse a request for more than they support, or whose prompt and answer exceed the context. */
function limitOutput({ context, output }: ModelLimits, prompt: number): number | null {
  const room = context === null ? null : Math.max(Math.ceil(context * LEAST_ROOM), context - prompt);
  return room === null || output === null ? (room ?? output) : Math.min(room, output);
}

function prepareRequest(
  call: GatewayCall,
  { provider, model, protocol }: RouteCandidate,
  { limits, mayAskForUsage }: { limits: ModelLimits; mayAskForUsage: boolean },
): Prepared {
  const { route } = call;
  const isSame = route.protocol === protocol;
  const path = pathFor(protocol, call, model, provider.baseUrl);
  const sent = isSame
    ? buildUpstreamHeaders(call.request.headers, { withClientKey: provider.takesClientKey })
    : {
        'content-type': 'application/json',
        accept: call.isStream ? 'text/event-stream' : 'application/json',
        ...(protocol === 'messages' ? { 'anthropic-version': MESSAGES_VERSION } : {}),
      };
  const headers = { ...sent, 'accept-encoding': 'identity', ...keyHeaders(protocol, provider.key) };
  if (isSame) {
    const { body, asksForUsage } = editBody(call, model, mayAskForUsage);
    const request = { method: 'POST', path, headers, body } as const;
    return { request, asksForUsage, stripsUsage: asksForUsage, translator: null };
  }
  if (route.kind !== 'generate') throw new Error(`${provider.name} does not speak the protocol of this call`);
  const translator = createTranslation(route.protocol, protocol);
  const texts = parseHoldingTexts(call.body, { protocol: route.protocol, members: call.members });
  const asked = texts.body as object;
  // Gemini requests a stream in the path.
  const from = route.protocol === 'gemini' ? { ...asked, stream: call.isStream } : asked;
  const mostOutput = limitOutput(limits, call.promptTokens);
  const wanted: { stream_options?: unknown } = translator.request(from, model, mostOutput);
  const asksForUsage = wanted.stream_options !== undefined && mayAskForUsage;
  const isKept = asksForUsage || wanted.stream_options === undefined;
  const body = texts.write(isKept ? wanted : { ...wanted, stream_options: undefined });
  return { request: { method: 'POST', path, headers, body }, asksForUsage, stripsUsage: false, translator };
}

function keyHeaders(protocol: Protocol, key: string | null): Record<string, string> {
  if (key === null) return {};
  if (protocol === 'messages') return { 'x-api-key': key };
  return protocol === 'gemini' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` };
}

/**
 * Returns the body with this upstream's model, the request for usage, and without the reasoning of other providers;
 * every other byte is unchanged.
 */
function editBody(
  call: GatewayCall,
  model: string,
  mayAskForUsage: boolean,
): { body: Buffer; asksForUsage: boolean } {
  const { body, members, route } = call;
  const edits: JsonEdit[] = [];
  if (route.protocol !== 'gemini' && model !== call.asked) edits.push(...nameModel(call, model));
  const wantsUsage =
    mayAskForUsage && route.protocol === 'chat' && route.kind === 'generate' && call.isStream;
  const injected = wantsUsage ? askForUsage(body, members) : null;
  if (injected !== null) edits.push(injected);
  if (body.includes(SEAL_MARK)) edits.push(...dropSeals(call, model));
  edits.sort((one, other) => one.start - other.start);
  return { body: edits.length === 0 ? body : replaceBytes(body, edits), asksForUsage: injected !== null };
}

function nameModel({ body, members }: GatewayCall, model: string): JsonEdit[] {
  const name = JSON.stringify(model);
  const named = members.filter(({ key }) => key === 'model');
  if (named.length > 0) return named.map(({ start, end }) => ({ start, end, bytes: name }));
  const at = body.indexOf('{') + 1;
  return [{ start: at, end: at, bytes: `"model":${name}${members.length === 0 ? '' : ','}` }];
}

function dropSeals({ body, members, route }: GatewayCall, model: string): JsonEdit[] {
  const sealed = members.filter(({ start, end }) => body.subarray(start, end).includes(SEAL_MARK));
  return sealed.flatMap((member) => {
    const before = { [member.key]: readJsonValue(body, member) };
    const after = dropSealedReasoning(route.protocol, before, model);
    const { start, end } = member;
    return after === before ? [] : [{ start, end, bytes: JSON.stringify(after[member.key]) }];
  });
}

/** Requests usage; null if the client requested it itself. */
function askForUsage(body: Buffer, members: GatewayCall['members']): JsonEdit | null {
  const options = members.findLast(({ key }) => key === 'stream_options');
  if (options === undefined) {
    // Inserted before the first member; a stream has at least its own option.
    const at = body.indexOf('{') + 1;
    return { start: at, end: at, bytes: '"stream_options":{"include_usage":true},' };
  }
  const inside = findJsonMembers(body.subarray(options.start, options.end)) ?? [];
  const asked = inside.findLast(({ key }) => key === 'include_usage');
  const own = body.subarray(options.start, options.end);
  if (asked !== undefined && readJsonValue(own, asked) === true) return null;
  const value = readJsonValue(body, options);
  const before = typeof value === 'object' && value !== null ? value : {};
  return {
    start: options.start,
    end: options.end,
    bytes: JSON.stringify({ ...before, include_usage: true }),
  };
}
