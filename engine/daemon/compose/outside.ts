import type { Board } from '../../board/index.ts';
import type { Bus } from '../../bus/index.ts';
import { isLoopback, listReceiverSecrets, parseAddress } from '../../config/index.ts';
import { readProxies } from '../../core/http/proxies.ts';
import { canShowDesktopNotice, showDesktopNotice } from '../../core/platform/desktop-notice.ts';
import { platform } from '../../core/platform/index.ts';
import { findWorkspaceHostedBy } from '../../core/workspace/neighbours.ts';
import type { Dispatcher } from '../../dispatch/index.ts';
import { type EngineGateway, sumByTier } from '../../gateway/index.ts';
import { type AccountLeases, createLink, type Link } from '../../link/index.ts';
import { buildLinkEvent } from '../../link/outgoing.ts';
import { createNotify } from '../../notify/index.ts';
import type { PullRequestRecords } from '../../pull-requests/index.ts';
import { createConfiguredReceiver } from '../../receiver/configured.ts';
import { createReceiver, type LookAtPullRequests } from '../../receiver/index.ts';
import { createListeners } from '../../receiver/listeners.ts';
import { createSources } from '../../sources/index.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import { createForgeOpener } from './person-environment.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Returns the page of the linked server about a decision, otherwise that of the task's source; null for none. */
function findPage(
  linked: ReturnType<Link['linked']>,
  decisionId: string | null,
  sourceUrl: string | null,
): string | null {
  if (linked === null || linked.revokedAt !== null) return sourceUrl;
  const { server, workspace } = linked;
  if (decisionId !== null) return `${server}/app/decisions/${workspace}/${decisionId}`;
  return sourceUrl ?? `${server}/app`;
}

/** Builds the modules that talk to other machines: `engine/notify`, `engine/link`, `engine/receiver` and `engine/sources`. */
export function createOutsideModules(
  shared: SharedDependencies,
  { sessions, agents }: WorkerModules,
  others: {
    board: Board<Dispatcher>;
    bus: Pick<Bus, 'asks'>;
    gateway: EngineGateway;
    leases: AccountLeases;
    lookAtPullRequests: LookAtPullRequests;
    findPullRequest: PullRequestRecords['find'];
  },
) {
  const { storage, events, clock, log, env, root, dataId, config, secret, requireConsent, closing } = shared;
  const { tasks, decisions, workflow } = others.board;
  /** Describes an event for a phone by the rules for the linked server, with a page about it. */
  function describeOutside(event: LoggedEvent) {
    const task = event.taskId === null ? null : tasks.get(event.taskId);
    const origin = task === null ? null : tasks.readOrigin(task.taskId);
    const { titles } = config().server;
    const told = buildLinkEvent(event, task, origin, { id: '', titles });
    return { ...told, link: findPage(link.linked(), event.decisionId, task?.sourceUrl ?? null) };
  }
  const notify = createNotify({
    storage,
    events,
    clock,
    config,
    tasks,
    workspaceName: () => config().workspace.name,
    person: {
      findQuestion(askId) {
        const { status, question } = others.bus.asks.get(askId);
        return status === 'open' ? question : null;
      },
      isPending: (decisionId) => decisions.get(decisionId).state === 'pending',
      desktop: {
        canShow: () => canShowDesktopNotice(env),
        show: ({ title, text }) => void showDesktopNotice(env, title, text),
      },
    },
    describeOutside,
    proxies: () => readProxies(env),
    secret,
    currentSecret: shared.currentSecret,
    log,
  });
  closing(notify.close);
  const link = createLink({
    storage,
    events,
    clock,
    log,
    env,
    root,
    data: shared.paths.data,
    dataId,
    config,
    setServerUrl: shared.setServerUrl,
    tasks,
    decisions,
    workflow,
    sessions,
    findPullRequest: others.findPullRequest,
    requireConsent,
    leases: others.leases,
    sumTierTokens: (day, since) => sumByTier(config(), others.gateway.books.sumSpentByProvider(day, since)),
  });
  closing(link.close);
  const received = createReceiver({
    storage,
    workflow,
    tasks,
    decisions,
    sessions,
    clock,
    config,
    agents,
    isLoopback,
    workspace: { id: dataId, name: () => config().workspace.name },
    lookAtPullRequests: others.lookAtPullRequests,
    log,
  });
  const listeners = createListeners(received, requireConsent);
  closing(listeners.close);
  const receiver = createConfiguredReceiver({
    listeners,
    address: () => parseAddress(config().ui.addr),
    secrets: () => listReceiverSecrets(config(), secret),
    async whoListens(port) {
      const [pid] = await platform.sockets.findPortOwners(port);
      if (pid === undefined) return null;
      const workspace = findWorkspaceHostedBy(pid, env);
      return workspace === null ? `pid ${pid}` : `the engine of ${workspace} (pid ${pid})`;
    },
    warn: (facts, text) => log.warn(facts, text),
  });
  const openForge = createForgeOpener(shared);
  const sources = createSources({
    ...{ storage, events, clock, log, codeHost: received.codeHost },
    list: () => config().sources,
    openForge,
  });
  closing(sources.close);
  return { notify, link, listeners, receiver, sources };
}
