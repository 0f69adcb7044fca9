import type { BusDeps } from '../../bus/deps.ts';
import type { DispatchDeps, Dispatcher } from '../../dispatch/index.ts';
import type { MemoryDeps } from '../../knowledge/memory/index.ts';
import type { Link } from '../../link/index.ts';

/** A function that a module calls and a module built after it provides. */
export interface LatePort<F> {
  call: F;
  /** Connects the provider, once it is built. */
  connect(provider: F): void;
}

function createPort<F extends (...args: never[]) => unknown>(name: string): LatePort<F> {
  let connected: F | null = null;
  function call(...args: Parameters<F>): unknown {
    if (connected === null) throw new Error(`the port ${name} is called before it is connected`);
    return connected(...args);
  }
  return {
    call: call as unknown as F,
    connect(provider) {
      connected = provider;
    },
  };
}

/** Creates the ports of modules that need each other; `createModules` connects them. */
export function createPorts() {
  return {
    /** The bus tells the board, inside the transaction that closes a seat. */
    seatClosed: createPort<BusDeps['seatClosed']>('seatClosed'),
    /** The bus tells the dispatcher, inside the transaction that answers a worker's question. */
    answered: createPort<BusDeps['answered']>('answered'),
    /** The reaper of the bus has the dispatcher adopt sessions without an owner. */
    takeUp: createPort<BusDeps['takeUp']>('takeUp'),
    /** Memories are written about tasks of the board, whose workers read them. */
    readTask: createPort<MemoryDeps['task']>('readTask'),
    /** A lease belongs to a link, which drops and renews it. */
    linked: createPort<Link['linked']>('linked'),
    linkCalls: createPort<Link['calls']>('linkCalls'),
    /** The machines of the fleet tell the dispatcher that they take runs, or do not any more. */
    fleetChanged: createPort<() => void>('fleetChanged'),
    /** The fleet has the dispatcher give up the runs of a machine. */
    loseRuns: createPort<Dispatcher['loseRuns']>('loseRuns'),
    /** The dispatcher tells everyone else, inside the transaction that ends a run. */
    runEnded: createPort<DispatchDeps['atEnd']>('runEnded'),
  };
}
