import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError, toHttpStatus } from '../core/base/errors.ts';
import {
  checkEncoding,
  checkTime,
  clockSetBackError,
  createVerifier,
  findHeader,
  LARGEST_SIGNED_BYTES,
  type VerifySignature,
} from '../core/http/signature.ts';
import { refuseSignature, type SignatureFailures } from '../core/http/signature-failures.ts';
import type { RouteSecrets, SecretRoute } from './config.ts';
import type { WebhookConfig } from './intake.ts';
import type { RunOnce } from './once.ts';
import { problemAnswer } from './problem.ts';
import type { ReplayCache } from './replay.ts';
import type { InboundRequest, ReceiverAnswer, RequestHead } from './request.ts';
import { EVENT_HEADERS } from './routes/codehost.ts';
import type { ReceiverRoute } from './routes/route.ts';
import {
  checkWorkspace,
  formatWorkspaceHeader,
  type ReceiverWorkspace,
  WORKSPACE_HEADER,
} from './workspace-header.ts';

export interface ReceiverRoutes {
  task: ReceiverRoute;
  codehost: ReceiverRoute;
  chat: ReceiverRoute;
  poll: ReceiverRoute;
  approve: ReceiverRoute;
  deny: ReceiverRoute;
}

/** Logs the receiver's errors; never given a secret or a body. */
export interface ReceiverLog {
  error(facts: Record<string, unknown>, message: string): void;
}

/** A request has passed the checks that need no body. */
export interface AdmittedRequest {
  route: ReceiverRoute;
  id: string;
  /** Checks against the secrets of this route only. */
  verify: VerifySignature;
}

export interface RequestReceiver {
  /** Checks route, method, declared size and encoding; returns an answer when the body need not be read. */
  admit(head: RequestHead): AdmittedRequest | ReceiverAnswer;
  /** Runs the remaining checks, then the route's handler. */
  proceed(admitted: AdmittedRequest, request: InboundRequest): Promise<ReceiverAnswer>;
  /** Runs `admit`, then `proceed`. Never rejects. */
  receive(request: InboundRequest): Promise<ReceiverAnswer>;
}

export const isAnswer = (value: AdmittedRequest | ReceiverAnswer): value is ReceiverAnswer =>
  'status' in value;

/** Names the event of a code host, whose owner can choose which of them are sent. */
export function tooLargeAnswer(headers: InboundRequest['headers']): ReceiverAnswer {
  const event = findHeader(headers, EVENT_HEADERS);
  const isNamed = event !== undefined && /^[a-z_]{1,60}$/.test(event);
  return problemAnswer(
    new SvcError(
      'body_too_large',
      `the body${isNamed ? ` of the event ${event}` : ''} has more than ${LARGEST_SIGNED_BYTES} bytes`,
      isNamed ? { hint: 'only send the events issues and issue_comment, as application/json' } : {},
    ),
    { connection: 'close' },
  );
}

const NAMED = ['task', 'codehost', 'chat'] as const;
const DECISION = /^\/decisions\/([^/]+)(?:\/(approve|deny))?$/;

/** Creates the checks before the body is read: route, method, declared size and encoding. */
function createAdmission({
  routes,
  secrets,
  config,
}: {
  routes: ReceiverRoutes;
  secrets: RouteSecrets;
  config(): { webhook: WebhookConfig };
}): (head: RequestHead) => AdmittedRequest | ReceiverAnswer {
  const verifies = new Map(
    Object.entries(secrets).map(([route, list]) => [route as SecretRoute, createVerifier(list)]),
  );

  /** Returns null for a route without a secret: it is closed. */
  function admitRoute(route: ReceiverRoute, id: string, secretOf: SecretRoute): AdmittedRequest | null {
    const verify = verifies.get(secretOf);
    return verify === undefined ? null : { route, id, verify };
  }

  function findRoute(path: string): AdmittedRequest | null {
    const { allow } = config().webhook;
    const named = NAMED.find((name) => path === `/${name}`);
    if (named !== undefined) return allow.includes(named) ? admitRoute(routes[named], '', named) : null;
    const match = DECISION.exec(path);
    if (match === null) return null;
    return admitRoute(routes[(match[2] as 'approve' | 'deny' | undefined) ?? 'poll'], match[1]!, 'decisions');
  }

  return ({ method, path, headers }) => {
    const found = findRoute(path);
    if (found === null) return problemAnswer(new SvcError('not_found', 'there is no such route here'));
    const allow = found.route.method;
    if (method !== allow) {
      return problemAnswer(new SvcError('method_not_allowed', `this route only accepts ${allow}`), { allow });
    }
    const declared = headers['content-length'];
    if (declared !== undefined && Number(declared) > LARGEST_SIGNED_BYTES) return tooLargeAnswer(headers);
    try {
      checkEncoding(headers);
    } catch (error) {
      return problemAnswer(asSvcError(error), { 'accept-encoding': 'identity' });
    }
    return found;
  };
}

/**
 * Creates the checks that every request passes, in this order (03 §3): route, method, size, time, signature, workspace,
 * replay, then the route's own parsing and fields. Nothing is parsed before the signature is verified.
 */
export function createReceive({
  routes,
  secrets,
  once,
  replay,
  failures,
  clock,
  config,
  workspace,
  log,
}: {
  routes: ReceiverRoutes;
  secrets: RouteSecrets;
  once: RunOnce;
  replay: Pick<ReplayCache, 'mayBeForgotten'>;
  failures: SignatureFailures;
  clock: Clock;
  config(): { webhook: WebhookConfig };
  workspace: ReceiverWorkspace;
  log?: ReceiverLog | undefined;
}): RequestReceiver {
  function answerUnsigned(route: ReceiverRoute, remote: string): ReceiverAnswer {
    const error = refuseSignature(failures, remote);
    const pause = error.data.retry_after_s;
    return problemAnswer(
      error,
      pause === undefined ? { 'www-authenticate': route.scheme.challenge } : { 'retry-after': String(pause) },
    );
  }

  function answerFailure(thrown: unknown, route: ReceiverRoute): ReceiverAnswer {
    const error = asSvcError(thrown);
    if (toHttpStatus(error.code) >= 500)
      log?.error({ code: error.code, error: error.message }, 'a request failed');
    return problemAnswer(
      error,
      error.code === 'timestamp_out_of_range' ? { 'www-authenticate': route.scheme.challenge } : undefined,
    );
  }

  /** Names the workspace in an answer; only for senders whose signature was verified. */
  function addWorkspaceHeader(answer: ReceiverAnswer): ReceiverAnswer {
    const own = formatWorkspaceHeader({ id: workspace.id, name: workspace.name() });
    return { ...answer, headers: { ...answer.headers, [WORKSPACE_HEADER]: own } };
  }

  const admitRequest = createAdmission({ routes, secrets, config });

  async function proceedRequest(
    { route, id, verify }: AdmittedRequest,
    request: InboundRequest,
  ): Promise<ReceiverAnswer> {
    const { headers, body, remote } = request;
    let signature: Buffer | null = null;
    try {
      if (body.length > LARGEST_SIGNED_BYTES) return tooLargeAnswer(headers);
      const timestamp = checkTime(route.scheme, headers, clock.now());
      signature = verify(route.scheme, headers, timestamp, body);
      if (signature === null) return answerUnsigned(route, remote);
      checkWorkspace(workspace, headers);
      if (route.safe) return addWorkspaceHeader(await route.handle(request, id));
      const signedAt = timestamp === '' ? null : Number(timestamp) * 1000;
      if (signedAt !== null && replay.mayBeForgotten(signedAt)) throw clockSetBackError(clock.now());
      return addWorkspaceHeader(
        await once(
          { signature, signedAt },
          () => route.handle(request, id),
          route.answerRefusal ?? problemAnswer,
        ),
      );
    } catch (error) {
      const answer = answerFailure(error, route);
      return signature === null ? answer : addWorkspaceHeader(answer);
    }
  }

  return {
    admit: admitRequest,
    proceed: proceedRequest,
    async receive(request) {
      const admitted = admitRequest(request);
      return isAnswer(admitted) ? admitted : proceedRequest(admitted, request);
    },
  };
}
