import type { Duplex } from 'node:stream';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { RunName } from '../../workers/runner/runs/index.ts';
import { type Link, pipeBoth } from '../wire/index.ts';

/** How long a call of a model waits for the board, ms. */
const PATIENCE_MS = 600_000;

/** The connection to the board, which comes and goes while runs continue. */
export interface BoardLink {
  /** Uses a new connection; the earlier one ends. */
  attach(link: Link): void;
  /** Calls the board. Rejects if it is not connected. */
  call(method: string, input: unknown): Promise<unknown>;
  /** Adds a function that is called with each new connection. */
  onAttach(look: () => void): void;
  /** Joins a connection of a run to the board, once that is connected. */
  tunnel(name: 'seat' | 'gateway', run: RunName, connection: Duplex): void;
  close(): void;
}

export function createBoardLink(log: Log): BoardLink {
  let current: Link | null = null;
  const looks: (() => void)[] = [];
  const waiting = new Set<(link: Link) => void>();

  /** Waits for a connection to the board; null if the run's own ends before that, or it takes too long. */
  function waitForLink(connection: Duplex): Promise<Link | null> {
    if (current !== null) return Promise.resolve(current);
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(null), PATIENCE_MS);
      timer.unref();
      const settle = (link: Link | null): void => {
        clearTimeout(timer);
        waiting.delete(settle);
        connection.off('close', giveUp);
        resolve(link);
      };
      const giveUp = (): void => settle(null);
      connection.once('close', giveUp);
      waiting.add(settle);
    });
  }

  async function tunnel(name: 'seat' | 'gateway', run: RunName, connection: Duplex): Promise<void> {
    connection.on('error', () => connection.destroy());
    // A client of the engine looks again by itself; an agent would take the end for an error of its model.
    const link = name === 'seat' ? current : await waitForLink(connection);
    if (link === null || connection.destroyed) return void connection.destroy();
    try {
      pipeBoth(connection, await link.openStream(name, run, 'calls'));
    } catch (error) {
      log.warn({ ...run, error: asSvcError(error).message }, `the board took no ${name} connection`);
      connection.destroy();
    }
  }

  return {
    attach(link) {
      current?.close();
      current = link;
      for (const settle of [...waiting]) settle(link);
      for (const look of looks) look();
      void link.ended.then(() => {
        if (current === link) current = null;
      });
    },
    async call(method, input) {
      if (current === null) throw new SvcError('runner_unreachable', 'the board is not connected');
      return current.call(method, input);
    },
    onAttach: (look) => void looks.push(look),
    tunnel: (name, run, connection) => void tunnel(name, run, connection),
    close() {
      current?.close();
      for (const settle of [...waiting]) waiting.delete(settle);
    },
  };
}
