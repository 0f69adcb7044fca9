import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { createFailures } from '../core/http/signature-failures.ts';
import type { Storage } from '../storage/index.ts';
import type { Sessions } from '../workers/sessions/index.ts';
import { type CodeHostIntake, createCodeHostIntake } from './codehost-intake.ts';
import type { RouteSecrets } from './config.ts';
import { SECRET_ROUTES } from './config.ts';
import { type AgentLookup, createIntake, type ReceiverConfig } from './intake.ts';
import { createOnce } from './once.ts';
import { createReceipts } from './receipts.ts';
import { createReceive, type ReceiverLog, type ReceiverRoutes, type RequestReceiver } from './receive.ts';
import { createReplayCache } from './replay.ts';
import { createChatRoute } from './routes/chat.ts';
import { createCodehostRoute, type LookAtPullRequests } from './routes/codehost.ts';
import { createDecisionRoutes } from './routes/decisions.ts';
import { createTaskRoute } from './routes/task.ts';
import { type ListenOptions, type ReceiverListener, serveReceive } from './serve.ts';
import type { ReceiverWorkspace } from './workspace-header.ts';

export { type CodeHostOccurrence, LABEL, readCodeHostOccurrence } from './codehost-event.ts';
export { type CodeHostIntake, type CodeHostWork, TRUSTED_ASSOCIATIONS } from './codehost-intake.ts';
export type { AgentLookup, ReceiverConfig, WebhookConfig } from './intake.ts';
export type { ReceiverLog, RequestReceiver } from './receive.ts';
export type { LookAtPullRequests } from './routes/codehost.ts';
export { formatCodehostActor } from './sender.ts';

export type { AccessLogEntry, ListenOptions, ReceiverListener } from './serve.ts';

export interface ReceiverDeps {
  storage: Storage;
  workflow: Workflow;
  tasks: Tasks;
  decisions: Decisions;
  sessions: Sessions;
  clock: Clock;
  /** Read on every request, so a reloaded configuration takes effect immediately. */
  config(): ReceiverConfig;
  agents: AgentLookup;
  /** Reports whether only this machine can reach a host. */
  isLoopback(host: string): boolean;
  /** The workspace of the receiver. */
  workspace: ReceiverWorkspace;
  lookAtPullRequests: LookAtPullRequests;
  log?: ReceiverLog;
}

export interface Receiver {
  codeHost: CodeHostIntake;
  /** Answers requests without a port, under one list of secrets or one per route. Throws `secret_missing` when a secret is empty. */
  open(secrets: readonly string[] | RouteSecrets): RequestReceiver;
  /** Listens. Throws `secret_missing`, `address_refused`, `address_in_use`. */
  listen(options: ListenOptions): Promise<ReceiverListener>;
}

/** Creates the signed receiver, which turns requests from outside into tasks and decisions. */
export function createReceiver(deps: ReceiverDeps): Receiver {
  const { clock, config, workspace, log } = deps;
  const replay = createReplayCache(deps);
  const once = createOnce({ storage: deps.storage, replay });
  const receipts = createReceipts(deps);
  const failures = createFailures({ clock });
  const intake = createIntake(deps);
  const { workflow, tasks, decisions, sessions } = deps;
  const codeHost = createCodeHostIntake({ intake, receipts, tasks, config });
  const routes: ReceiverRoutes = {
    task: createTaskRoute({ intake, receipts, tasks }),
    codehost: createCodehostRoute({ intake, codeHost, lookAtPullRequests: deps.lookAtPullRequests }),
    chat: createChatRoute({ intake, workflow, tasks, decisions, sessions, config }),
    ...createDecisionRoutes({ workflow, decisions, tasks }),
  };

  function openReceive(given: readonly string[] | RouteSecrets): RequestReceiver {
    const secrets = Array.isArray(given)
      ? Object.fromEntries(SECRET_ROUTES.map((route) => [route, given]))
      : (given as RouteSecrets);
    const lists = Object.values(secrets);
    if (lists.length === 0 || lists.some((list) => list.length === 0 || list.includes(''))) {
      throw new SvcError('secret_missing', 'the receiver has no secret to verify signatures with', {
        hint: 'set the environment variable that webhook.secret_env names',
      });
    }
    return createReceive({ routes, secrets, once, replay, failures, clock, config, workspace, log });
  }

  return {
    codeHost,
    open: openReceive,
    listen: (options) =>
      serveReceive(openReceive(options.secrets), options, { clock, isLoopback: deps.isLoopback }),
  };
}
