import { holdsForCaller } from '../../board/holder.ts';
import type { Board } from '../../board/index.ts';
import {
  createHooks,
  describeStanding,
  listHeldPaths,
  listNewMessages,
  requireSharedLocks,
} from '../../bus/hooks/index.ts';
import type { Bus } from '../../bus/index.ts';
import type { Dispatcher } from '../../dispatch/index.ts';
import { findProfile } from '../../knowledge/guard/index.ts';
import type { KnowledgeModules } from './knowledge.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Builds the hooks of agents, with what each module contributes to them. */
export function createHookModule(
  { config, log }: SharedDependencies,
  {
    workers,
    knowledge,
    board,
    bus,
  }: {
    workers: Pick<WorkerModules, 'findSession' | 'briefOf'>;
    knowledge: Pick<KnowledgeModules, 'texts' | 'guard' | 'findSharedPath'>;
    board: Board<Dispatcher>;
    bus: Bus;
  },
) {
  const { locks, tasks } = board;
  const { texts, guard } = knowledge;
  const isOwn = (holder: string, caller: Parameters<typeof holdsForCaller>[1]) =>
    holdsForCaller(holder, caller, bus.peers);
  return createHooks({
    log,
    wantsOutput: texts.wantsOutput,
    contributors: [
      listHeldPaths({
        isOn: () => findProfile(config().guard).locks,
        over: locks.holderOver,
        isOwn,
        find: bus.peers.find,
      }),
      requireSharedLocks({
        isOn: () => findProfile(config().guard).sharedCode,
        findShared: knowledge.findSharedPath,
        listOver: locks.listOver,
        isOwn,
      }),
      guard.lookBeforeWrite(),
      describeStanding({
        sessionOf: workers.findSession,
        briefOf: workers.briefOf,
        task: tasks.get,
        asksOf: (from) => bus.asks.list({ status: 'open', from }),
        locksOf: (holder) => locks.around().filter((lock) => lock.holder === holder),
        tellsMore: () => config().context.hooks.pre_compact,
        claimsOf: board.claimsOf,
        evidenceOf: board.evidence,
        textsOf: texts.listOf,
      }),
      listNewMessages({ surface: bus.surface }),
    ],
  });
}
