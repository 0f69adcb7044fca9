import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import {
  chairAddress,
  isOwnSeat,
  projectOfAddress,
  type SessionPeer,
  type SessionPeers,
} from '../../workers/sessions/index.ts';
import { isPlainName } from '../../workers/sessions/seats/index.ts';
import type { TaskFamily } from './family.ts';

/** The target of a message: exactly one of the three. */
export interface MessageRecipient {
  toSession: string | null;
  toWorker: string | null;
  toAgent: string | null;
}

export const ROLES = ['parent', 'child', 'sibling'] as const;
export type SenderRole = (typeof ROLES)[number];

/** The kinds of recipients that a caller may name; one of them at a time. */
export interface WantedRecipients {
  to_session?: string | undefined;
  to_agent?: string | undefined;
  to_worker?: string | undefined;
  to_role?: SenderRole | undefined;
  to_project?: string | undefined;
}

export interface AddressDeps {
  peers: SessionPeers;
  family: TaskFamily;
  /** Null for the workspace's own. Throws `unknown_project`. */
  projectId(project: string): string | null;
  /** Reports whether the configuration has an agent with that name. */
  isPreset(agent: string): boolean;
}

/** Resolves callers' addresses to sessions, seats, workers and agents. */
export interface RecipientAddresses {
  /**
   * Returns a session, or the address of a Chair's seat, in canonical spelling. Throws `fields_invalid`,
   * `unknown_project`.
   */
  session(text: string): string;
  /** Null for the workspace's own. Throws `unknown_project`. */
  project(text: string): string | null;
  /** Finds the peer behind a session or an address; for a vacant seat, the seat itself. Null for an unknown session. */
  peer(session: string): SessionPeer | null;
  /**
   * Returns the session that a call is made as. A Chair without a session speaks as its seat. Only a Chair may speak
   * as others, who need not be known. Throws `holder_mismatch`.
   */
  acting(caller: Caller, named: string | undefined): string | null;
  /** Throws `not_found` for a session that never existed; seats of Chairs always exist. */
  checkKnown(session: string): void;
  /** Reports whether that recipient was seen before, or can appear at any time because it is configured. */
  isKnown(kind: 'session' | 'worker' | 'agent', name: string): boolean;
  /** Throws `fields_invalid` for none or several kinds, `unknown_project`, and `not_found` if no one has the role. */
  recipients(wanted: WantedRecipients, from: string | null): MessageRecipient[];
}

const NOBODY: MessageRecipient = { toSession: null, toWorker: null, toAgent: null };
const sessionRecipient = (session: string): MessageRecipient => ({ ...NOBODY, toSession: session });

const NAME_MAX = 200;

/** Reads a caller's name; undefined if empty, as agents fill in unused fields. Throws `fields_invalid`. */
export function readName(text: string | undefined): string | undefined {
  const name = text?.trim() ?? '';
  if (name.length > NAME_MAX) {
    throw new SvcError('fields_invalid', `a name has at most ${NAME_MAX} characters`);
  }
  return name === '' ? undefined : name;
}

export function createAddresses({ peers, family, projectId, isPreset }: AddressDeps): RecipientAddresses {
  function resolveAddress(name: string): string {
    const seat = projectOfAddress(name);
    if (seat !== undefined) return chairAddress(seat === null ? null : projectId(seat));
    const text = /^chair-/i.test(name) ? name.toLowerCase() : name;
    if (asWorkerSession(text) !== null || /^chair-[1-9]\d{0,14}$/.test(text) || isPlainName(text))
      return text;
    throw new SvcError('fields_invalid', `invalid session ${JSON.stringify(text)}`, {
      hint: sentence`a session is s-12, chair-3, chair, chair@project or the name of a plain session; {msg.peers} lists them`,
    });
  }

  function findPeer(id: string): SessionPeer | null {
    const seat = projectOfAddress(id);
    if (seat === undefined) return peers.find(id);
    return peers.chairOf(seat) ?? describeVacantSeat(seat);
  }

  function resolveRole(role: SenderRole, from: string | null): MessageRecipient[] {
    const self = from === null ? null : findPeer(from);
    if (self === null) {
      throw new SvcError(
        'not_found',
        `to_role is relative to a session, but ${from ?? 'the sender'} is not a session`,
        {
          hint: sentence`{msg.peers} lists the sessions; name one with {input.to_session}`,
        },
      );
    }
    const found =
      role === 'parent'
        ? [family.parentOf(self) ?? []].flat()
        : (role === 'child' ? family.childrenOf(self) : family.siblingsOf(self)).map(
            (each) => each.sessionId,
          );
    if (found.length > 0) return found.map((each) => sessionRecipient(each));
    throw new SvcError('not_found', `${self.sessionId} has no live ${role}`, {
      hint: sentence`{msg.roster} lists the sessions around a session`,
    });
  }

  return {
    session: resolveAddress,
    project: projectId,
    peer: findPeer,
    acting(caller, named) {
      const wanted = readName(named);
      const acting = wanted === undefined || isOwnSeat(wanted, caller) ? undefined : resolveAddress(wanted);
      if (caller.seat !== 'chair' && acting !== undefined && acting !== caller.sessionId) {
        const own = caller.sessionId;
        throw new SvcError('holder_mismatch', `this caller is ${own ?? 'no session'}, not ${acting}`, {
          hint:
            own === null ? 'set SVC_SESSION to your own session name' : 'omit the session to act as yours',
        });
      }
      if (acting !== undefined) return acting;
      return caller.sessionId ?? (caller.seat === 'chair' ? chairAddress(caller.project) : null);
    },
    checkKnown(id) {
      if (projectOfAddress(id) === undefined) peers.known(id);
    },
    isKnown(kind, name) {
      if (kind === 'worker') return peers.ofWorker(name) !== null;
      if (kind === 'agent') return isPreset(name) || peers.live().some((each) => each.agent === name);
      return projectOfAddress(name) !== undefined || peers.find(name) !== null;
    },
    recipients(wanted, from) {
      const kinds = (Object.keys(wanted) as (keyof WantedRecipients)[]).filter(
        (each) => readName(wanted[each]) !== undefined,
      );
      const [kind, second] = kinds;
      if (kind === undefined || second !== undefined) {
        throw new SvcError(
          'fields_invalid',
          kind === undefined
            ? 'missing recipient: give one of to_session, to_agent, to_worker, to_role, to_project'
            : `give one recipient, not ${kinds.join(' and ')}`,
          { hint: sentence`{msg.peers} lists the sessions` },
        );
      }
      const text = readName(wanted[kind]) as string;
      if (kind === 'to_role') return resolveRole(text as SenderRole, from);
      if (kind === 'to_project') return [sessionRecipient(chairAddress(projectId(text)))];
      if (kind === 'to_worker') {
        return [{ ...NOBODY, toWorker: peers.ofWorker(text)?.workerId ?? text }];
      }
      if (kind === 'to_agent') return [{ ...NOBODY, toAgent: text }];
      return [sessionRecipient(text.toLowerCase() === 'me' && from !== null ? from : resolveAddress(text))];
    },
  };
}

/** A vacant Chair's seat, as a peer. */
const describeVacantSeat = (project: string | null): SessionPeer => ({
  sessionId: chairAddress(project),
  seat: 'chair',
  state: 'ended',
  agent: null,
  project,
  workerId: null,
  taskId: null,
  title: null,
  parent: null,
  notifyBase: null,
  since: '',
  seenAt: '',
});
