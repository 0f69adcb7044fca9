import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { version } from '../../core/base/own-package.ts';
import { createIdentity } from '../broker/identity.ts';
import { FLEET_PROTOCOL } from '../wire/index.ts';
import {
  joinAnswer,
  joinError,
  openMessage,
  parseJoinLine,
  sealMessage,
  subjectsOf,
} from '../wire/join-line.ts';
import { type Broker, type BrokerAccess, connectToBroker, createBrokerKey } from '../wire/nats.ts';
import { type JoinedFleet, readJoinedFleet, writeJoinedFleet } from './joined-fleet.ts';
import { locateMachineFolders, makeMachineFolders } from './machine-folders.ts';

/** How long an answer of the board may take, ms, and how often it is asked: the broker may drop a request or its answer. */
const JOIN_MS = 5000;
const MOST_ASKED = 4;
/**
 * How often an attempt is made that the broker drops, and one that it refuses: while others are invited or join, it reads
 * its list again, and then knows a valid invitation only a moment later.
 */
const MOST_DROPPED = 6;
const MOST_REFUSED = 10;
const AGAIN_MS = 200;
/** An attempt that was dropped is noticed after that only, ms. */
const CONNECT_MS = 3000;

/** Connects as an invited machine. Throws `join_invalid` for an invitation that is not valid, `broker_unreachable`. */
async function connectInvited(access: BrokerAccess): Promise<Broker> {
  for (let tries = 1; ; tries += 1)
    try {
      return await connectToBroker(access, () => undefined, CONNECT_MS);
    } catch (error) {
      const isRefused = /authorization/i.test(asSvcError(error).message);
      if (tries < (isRefused ? MOST_REFUSED : MOST_DROPPED)) await delay(AGAIN_MS);
      else if (isRefused) throw joinError('the invitation is spent or too old');
      else throw error;
    }
}

/** Sends the same request until it is answered: the board knows the machine again. Throws `broker_unreachable`. */
async function askBoard(broker: Broker, subject: string, request: Uint8Array): Promise<Uint8Array> {
  for (let asked = 1; ; asked += 1)
    try {
      return await broker.request(subject, request, JOIN_MS);
    } catch (error) {
      if (asked === MOST_ASKED) throw error;
      await delay(AGAIN_MS);
    }
}

/**
 * Joins a fleet with the line of an invitation: this machine creates its keys, and the board takes it in. Returns the
 * fleet's id. Throws `join_invalid`, `broker_unreachable`, `conflict` if it has joined already.
 */
export async function joinFleet(
  line: string,
  name: string | null,
  env: NodeJS.ProcessEnv,
): Promise<{ fleet: string } & Pick<JoinedFleet, 'runner' | 'name'>> {
  const { fleet, servers, authority, board, id, password, secret } = parseJoinLine(line);
  const folders = locateMachineFolders(fleet, env);
  makeMachineFolders(folders, env);
  const before = readJoinedFleet(folders.data);
  if (before !== null)
    throw new SvcError('conflict', `this machine has joined that fleet already, as ${before.name}`, {
      hint: 'svc runner start runs it',
    });
  const subjects = subjectsOf(fleet);
  const [identity, key] = [
    await createIdentity(`svc runner ${randomBytes(4).toString('hex')}`),
    createBrokerKey(),
  ];
  const access = { servers, authority, inbox: subjects.joined(id), login: { user: id, password } };
  const broker = await connectInvited(access);
  try {
    const request = sealMessage(secret, 'request', {
      ...{ host: hostname(), name, protocol: FLEET_PROTOCOL, version },
      ...{ certificate: identity.certificate, nkey: key.nkey },
    });
    const message = await askBoard(broker, subjects.join(id), request);
    const answer = openMessage(secret, 'answer', message, joinAnswer);
    if ('refused' in answer) throw joinError(answer.refused);
    const kept: JoinedFleet = { servers, authority, board, ...answer, ...identity, nkeySeed: key.nkeySeed };
    writeJoinedFleet(folders.data, kept);
    return { fleet, ...answer };
  } finally {
    await broker.close();
  }
}
