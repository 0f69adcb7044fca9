import type { Caller } from '../../core/api/operation.ts';
import type { MemoryAuthor } from './memory-table.ts';

/** Sources of tasks written by people outside this machine. */
const OUTSIDE = new Set(['codehost', 'chat']);

interface AuthorDeps {
  /** Returns the worker session of that id; null for others. */
  sessionOf(sessionId: string): { taskId: string; agent: string } | null;
  task(taskId: string): { source: string; stranger: string | null };
}

/** Tells who stores a memory, and whether it waits for a person. */
export function createMemoryAuthors(deps: AuthorDeps) {
  /** Returns why the caller's memories wait for a person, as a clause; null if they do not. */
  function findDoubt(caller: Caller, taskId: string | null): string | null {
    if (caller.seat !== 'worker') return null;
    if (taskId === null) return 'stored by a worker of an unknown task';
    const { source, stranger } = deps.task(taskId);
    return stranger !== null || OUTSIDE.has(source)
      ? `stored by a worker of ${taskId}, which comes from outside (${source})`
      : null;
  }

  function authorOf(caller: Caller): MemoryAuthor {
    const { actor, seat, via, sessionId } = caller;
    const session = sessionId === null ? null : deps.sessionOf(sessionId);
    const taskId = session?.taskId ?? null;
    const agent = session?.agent ?? null;
    return { actor, seat, via, sessionId, taskId, agent, unreviewed: findDoubt(caller, taskId) };
  }

  /** Returns the importer of a bundle: unreviewed memories wait for a person. */
  function importerOf(caller: Caller): MemoryAuthor {
    const author = authorOf(caller);
    const { sessionId, unreviewed } = author;
    const doubt = sessionId === null ? null : `imported by ${sessionId}, and not reviewed by a person`;
    return { ...author, unreviewed: unreviewed ?? doubt };
  }

  return { authorOf, importerOf };
}
