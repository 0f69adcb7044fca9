import { z } from 'zod';
import { SvcError } from '../core/base/errors.ts';
import { fieldsInvalid } from '../core/base/fields-invalid.ts';
import { ADDONS, PLANS } from '../core/link-protocol/capabilities.ts';
import { type Account, CHAT_KINDS, type PersonRow, ROLES } from './database/tables.ts';
import type { ServerParts } from './http/context.ts';
import { exportDatabase } from './keeping/export.ts';
import type { NewPerson } from './people/add-people.ts';
import { invitationUrl } from './people/invitations.ts';
import type { PeopleStore } from './people/people.ts';
import { makeToken } from './secrets.ts';

// Implements `svc server person add` and similar commands. They go through the running server's socket, which only
// its user can open, or open the database themselves if no server is running.

/** The key of the hash of the token for `/metrics`. */
export const METRICS_TOKEN_KEY = 'metrics_token';

const name = z.string().min(1).max(200);

/** Requests that the server's own user may send. */
export const ADMIN_INPUTS = {
  'person.add': z.strictObject({
    name,
    account: name.optional(),
    role: z.enum(ROLES).prefault('member'),
    operator: z.boolean().prefault(false),
    password: z.string().nullable().prefault(null),
  }),
  /** For a person who has no password yet. */
  'person.invite': z.strictObject({ name }),
  /** For any person: the old password is valid until the address is used. */
  'person.reset': z.strictObject({ name }),
  'person.remove': z.strictObject({ name }),
  'person.list': z.strictObject({ account: name.optional() }),
  'account.add': z.strictObject({ name }),
  'account.remove': z.strictObject({ name }),
  'account.list': z.strictObject({}),
  'account.plan': z.strictObject({ name, plan: z.enum(PLANS) }),
  'account.addon': z.strictObject({ name, addon: z.enum(ADDONS), on: z.boolean() }),
  'workspace.list': z.strictObject({ account: name.optional() }),
  /** By its id, or by its name if that is unique. */
  'workspace.remove': z.strictObject({ name }),
  'plan.list': z.strictObject({}),
  'plan.set': z.strictObject({ plan: z.enum(PLANS), key: z.string().max(100), value: z.string().max(100) }),
  'token.metrics': z.strictObject({}),
  'chat.list': z.strictObject({}),
  'chat.set': z.strictObject({ kind: z.enum(CHAT_KINDS), settings: z.record(z.string(), z.unknown()) }),
  'chat.remove': z.strictObject({ kind: z.enum(CHAT_KINDS) }),
  export: z.strictObject({ file: z.string().min(1).max(4096) }),
} as const;

export type AdminVerb = keyof typeof ADMIN_INPUTS;

const ACTOR = 'the command line';

type AdminActions = {
  [K in AdminVerb]: (parts: ServerParts, input: z.output<(typeof ADMIN_INPUTS)[K]>) => Promise<unknown>;
};

const ACTIONS: AdminActions = {
  async 'person.add'(parts, { name: given, account, role, operator, password }) {
    const { people } = parts;
    const accounts = await people.listAccounts();
    const isFirst = accounts.length === 0;
    const wanted =
      account ?? (accounts.length === 1 ? accounts[0]?.name : undefined) ?? (isFirst ? 'home' : '');
    if (wanted === '')
      throw new SvcError('usage', 'there are several accounts', { hint: 'choose one with --account NAME' });
    const wish = { name: given, isOperator: operator, password };
    const { person, account: home } = isFirst
      ? await people.addWithAccount({ ...wish, account: wanted }, ACTOR)
      : await addToAccount(people, wanted, { ...wish, role });
    const invitation = password === null ? await makeInvitation(parts, person) : null;
    return { name: person.name, account: home.name, role: person.role, operator, invitation };
  },
  async 'person.invite'(parts, { name: given }) {
    const person = await parts.people.find(given);
    if (person.password !== null)
      throw new SvcError('conflict', `${person.name} can already sign in`, {
        hint: 'svc server person reset creates an address to set another password',
      });
    return { name: person.name, invitation: await makeInvitation(parts, person) };
  },
  async 'person.reset'(parts, { name: given }) {
    const person = await parts.people.find(given);
    return { name: person.name, invitation: await makeInvitation(parts, person) };
  },
  async 'person.remove'({ people }, { name: given }) {
    const person = await people.find(given);
    await people.remove(person, ACTOR);
    return { name: person.name, removed: true };
  },
  async 'person.list'({ people }, { account }) {
    return people.list(account === undefined ? undefined : (await people.findAccount(account)).id);
  },
  async 'account.add'({ people }, { name: given }) {
    const account = await people.addAccount(given, ACTOR);
    return { name: account.name, plan: account.plan };
  },
  async 'account.remove'({ people }, { name: given }) {
    await people.removeAccount(given, ACTOR);
    return { name: given, removed: true };
  },
  async 'account.list'({ people, plans }) {
    const listed = await people.listAccounts();
    return Promise.all(
      listed.map(async ({ id, name: own, plan, created_at }) => ({
        name: own,
        plan,
        addons: (await plans.entitlementsOf(id)).addons,
        created_at: new Date(created_at).toISOString(),
      })),
    );
  },
  async 'account.plan'({ people, plans, deliveries }, { name: given, plan }) {
    const account = await people.findAccount(given);
    await plans.assign(account, plan, ACTOR);
    deliveries.wake();
    return { name: account.name, plan, before: account.plan };
  },
  async 'account.addon'({ people, plans, deliveries }, { name: given, addon, on }) {
    const account = await people.findAccount(given);
    await plans.switchAddon(account, addon, on, ACTOR);
    deliveries.wake();
    return { name: account.name, addon, on };
  },
  async 'workspace.list'({ people, workspaces, polls }, { account }) {
    const listed = await listWorkspaces({ people, workspaces }, account);
    return listed.map(({ id, name: own, account: of, machine, last_seen_at, revoked_at }) => ({
      id,
      name: own,
      account: of,
      machine,
      state: revoked_at !== null ? 'unlinked' : polls.isConnected(id) ? 'connected' : 'away',
      last_seen_at: last_seen_at === null ? null : new Date(last_seen_at).toISOString(),
    }));
  },
  async 'workspace.remove'({ people, workspaces, polls }, { name: given }) {
    const all = await listWorkspaces({ people, workspaces });
    const found = all.filter(({ id, name: own }) => id === given || own === given);
    const [workspace, other] = found;
    if (workspace === undefined)
      throw new SvcError('not_found', `no workspace ${JSON.stringify(given)}`, {
        hint: 'svc server workspace list lists them',
      });
    if (other !== undefined)
      throw new SvcError('conflict', `${found.length} workspaces are named ${JSON.stringify(given)}`, {
        hint: `choose one by its id: ${found.map(({ id }) => id).join(', ')}`,
      });
    await workspaces.remove(workspace.account_id, workspace.id, ACTOR);
    polls.revoke(workspace.id);
    return { id: workspace.id, name: workspace.name, removed: true };
  },
  'plan.list': ({ plans }) => plans.list(),
  async 'plan.set'({ plans, deliveries }, { plan, key, value }) {
    const changed = await plans.set(plan, key, value, ACTOR);
    deliveries.wake();
    return changed;
  },
  async 'chat.list'({ chats }) {
    const listed = await chats.bots.list();
    return listed.map(({ kind, setBy, setAt, status }) => ({
      service: kind,
      state: status.state,
      problem: status.problem,
      name: status.botName,
      set_by: setBy,
      set_at: new Date(setAt).toISOString(),
    }));
  },
  async 'chat.set'({ chats }, { kind, settings }) {
    await chats.bots.set(kind, settings, ACTOR);
    return { service: kind };
  },
  async 'chat.remove'({ chats }, { kind }) {
    const removed = await chats.bots.remove(kind, ACTOR);
    if (removed === null) throw new SvcError('not_found', `no bot of ${kind} is set up`);
    return { service: kind, removed: true, left: removed.left };
  },
  export: ({ readApart, clock }, { file }) => readApart((db) => exportDatabase(db, file, clock.now())),
  async 'token.metrics'({ db }) {
    const { token, hash } = makeToken('svcx_');
    await db
      .insertInto('meta')
      .values({ key: METRICS_TOKEN_KEY, value: hash })
      .onConflict((same) => same.column('key').doUpdateSet({ value: hash }))
      .execute();
    return { token };
  },
};

/** A one-time address for setting a password. */
const makeInvitation = async (
  { people, origin }: Pick<ServerParts, 'people' | 'origin'>,
  person: PersonRow,
): Promise<string> => invitationUrl(origin, await people.invite(person, ACTOR));

/** Adds a person to an existing account; the first person in it, and operators, are admins. */
async function addToAccount(
  people: PeopleStore,
  name: string,
  { role, ...wish }: Omit<NewPerson, 'account'>,
): Promise<{ person: PersonRow; account: Account }> {
  const account = await people.findAccount(name);
  const isAdmin = wish.isOperator || (await people.count(account.id)) === 0;
  const person = await people.add({ ...wish, account: account.id, role: isAdmin ? 'admin' : role }, ACTOR);
  return { person, account };
}

async function listWorkspaces(
  { people, workspaces }: Pick<ServerParts, 'people' | 'workspaces'>,
  account?: string,
) {
  const accounts = account === undefined ? await people.listAccounts() : [await people.findAccount(account)];
  const listed = await Promise.all(
    accounts.map(async ({ id, name: of }) =>
      (await workspaces.list(id)).map((workspace) => ({ ...workspace, account: of })),
    ),
  );
  return listed.flat();
}

/** Runs a command of the server's own user. Throws `usage` for an unknown verb or input. */
export async function administer(parts: ServerParts, verb: string, input: unknown): Promise<unknown> {
  if (!Object.hasOwn(ADMIN_INPUTS, verb)) throw new SvcError('usage', `no such verb: ${verb}`);
  const known = verb as AdminVerb;
  const read = ADMIN_INPUTS[known].safeParse(input);
  if (!read.success) throw fieldsInvalid(read.error);
  return (ACTIONS[known] as (parts: ServerParts, input: unknown) => Promise<unknown>)(parts, read.data);
}
