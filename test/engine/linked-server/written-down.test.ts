import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { findCode } from '../../../engine/linked-server/chats/connection-codes.ts';
import { TABLE_ORDER } from '../../../engine/linked-server/keeping/export.ts';
import type { CommandRequest } from '../../../engine/linked-server/links/commands.ts';
import { SLACK_APP } from '../../../fixtures/slack/slack.ts';
import {
  logMachineIn,
  onBothDatabases,
  PASSWORD,
  setUpServer,
  signIn,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { HASH, linkByHand, type WorkspaceByHand } from '../../support/workspaces/workspace-by-hand.ts';

onBothDatabases((start) => {
  describe('a change that cannot be logged', () => {
    let server: TestServer;
    let workspace: WorkspaceByHand;
    before(async () => {
      server = await start({ allowTarget: ['192.0.2.10/32'] });
      const ann = await setUpServer(server);
      workspace = await linkByHand(server, ann);
      await workspace.tellPending([{}]);
    });
    after(() => server?.close());

    /** Returns all stored data, except fields that every request updates. */
    async function readAll(): Promise<Record<string, unknown[]>> {
      const all: Record<string, unknown[]> = {};
      for (const table of TABLE_ORDER.filter((name) => name !== 'changes' && name !== 'failures'))
        all[table] = (await sql`SELECT * FROM ${sql.table(table)}`.execute(server.parts.db)).rows;
      return all;
    }
    const rename = (from: string, to: string) =>
      sql`ALTER TABLE ${sql.table(from)} RENAME TO ${sql.table(to)}`.execute(server.parts.db);

    it('an unlogged change is not made', async () => {
      const { parts } = server;
      const { people, plans, devices, machines, workspaces, commands, targets, chats, usage } = parts;
      const home = await people.findAccount('home');
      const ann = await people.find('ann');
      const bob = await people.add(
        { name: 'bob', account: home.id, role: 'admin', isOperator: true, password: PASSWORD },
        'ann',
      );
      const eve = await people.add(
        { name: 'eve', account: home.id, role: 'member', isOperator: false, password: null },
        'ann',
      );
      const invitation = await people.invite(eve, 'ann');
      const other = await people.addAccount('other', 'ann');
      await plans.assign(home, 'team', 'ann');
      const hook = {
        name: 'hook',
        url: 'https://192.0.2.10/x',
        events: ['sealed'],
        workspaces: { scope: 'all', ticked: [] },
      } as const;
      const { target } = await targets.add('webhook', hook, home.id, 'ann');
      const place = { channel: 'C1', name: 'approvals', isPrivate: false };
      const channel = await chats.channels.add(home.id, 'slack', place, 'ann');
      const inChat = {
        user: { id: 'U1', name: 'Ann' },
        place: { channel: 'D1', channelName: 'd', isPrivate: true },
        text: '',
      };
      const connect = async (): Promise<void> => {
        const code = await chats.connections.makeCode('slack', 'person', ann.id);
        assert.equal(await chats.connections.claim('slack', inChat, findCode(code)!), 'claimed');
      };
      await connect();
      await chats.connections.connect('slack', 'U1', ann);
      await connect();
      const facts = { machine: 'laptop', version: '1', system: 'linux' };
      const [asked, allowed] = [
        await devices.start(facts, '192.0.2.1'),
        await devices.start(facts, '192.0.2.1'),
      ];
      await devices.look(asked!.userCode, ann);
      await devices.look(allowed!.userCode, ann);
      await devices.answer(allowed!.userCode, ann, true);
      const terminal = await logMachineIn(server, await signIn(server, 'bob'), 'desk');
      const linked = (await workspaces.find(home.id, workspace.id))!;
      const wish: CommandRequest = {
        verb: 'deny',
        decision: 'd-17',
        hash: HASH,
        person: 'ann',
        channel: 'page',
      };
      const command = await commands.give(linked, wish);
      const { machine, person } = (await machines.findByToken(terminal))!;
      const outcome = {
        outcome: 'denied',
        session_id: null,
        decided_by: null,
        state: 'denied',
        code: null,
      } as const;
      const newPerson = {
        name: 'dan',
        account: home.id,
        role: 'member',
        isOperator: false,
        password: null,
      } as const;
      const bot = {
        ...{ bot_token: SLACK_APP.botToken, app_token: '', signing_secret: SLACK_APP.signingSecret },
        ...{ team_id: SLACK_APP.teamId, app_id: SLACK_APP.appId },
      };

      const made: Record<string, () => Promise<unknown>> = {
        'person added': () => people.add(newPerson, 'ann'),
        'person removed': () => people.remove(eve, 'ann'),
        'person invited': () => people.invite(eve, 'ann'),
        'password set': () => people.takeInvitation(invitation, PASSWORD),
        'password changed': () => people.setPassword(bob, `${PASSWORD} again`),
        'role changed': () => people.setRole(bob, 'member', 'ann'),
        'signed in': () => people.signIn(bob, { address: '192.0.2.1', browser: '' }),
        'account added': () => people.addAccount('third', 'ann'),
        'account removed': () => people.removeAccount('other', 'ann'),
        plan: () => plans.assign(other, 'professional', 'ann'),
        'plan changed': () => plans.set('free', 'projects', '9', 'ann'),
        'add-on': () => plans.switchAddon(home, 'n8n', true, 'ann'),
        'login allowed': () => devices.answer(asked!.userCode, ann, true),
        'machine logged in': () => devices.poll(allowed!.deviceCode),
        'machine logged out': () => machines.revokeToken(terminal),
        'machine revoked': () => machines.revoke(machine.id, ann),
        'workspace linked': () =>
          workspaces.link({ key: 'k'.repeat(16), name: 'desk', version: '1' }, { machine, person }),
        'workspace unlinked': () => workspaces.revoke(home.id, workspace.id, 'ann'),
        'workspace removed': () => workspaces.remove(home.id, workspace.id, 'ann'),
        'asked to approve': () => commands.give(linked, { ...wish, verb: 'approve' }),
        'answered deny': () => commands.settle(linked, command.id, outcome),
        'target added': () => targets.add('webhook', hook, home.id, 'ann'),
        'target changed': () => targets.change(target, { ...hook, name: 'other' }, 'ann'),
        'target switched off': () => targets.switch(target, false, 'ann'),
        'target removed': () => targets.remove(target, 'ann'),
        'new secret': () => targets.rotateSecret(target, 'ann'),
        'target resumed': () => targets.resume(target, 'ann'),
        'channel added': () => chats.channels.add(home.id, 'slack', { ...place, channel: 'C2' }, 'ann'),
        'channel changed': () => chats.channels.change(channel, ['failed'], 'ann'),
        'channel removed': () => chats.channels.remove(channel, 'ann'),
        'chat connected': () => chats.connections.connect('slack', 'U1', ann),
        'chat disconnected': () => chats.connections.disconnect('slack', ann),
        'bot set up': () => chats.bots.set('slack', bot, 'ann'),
        'usage deleted': () => usage.deleteOfWorkspace(linked),
      };
      const before = await readAll();
      await rename('changes', 'changes_elsewhere');
      for (const [what, make] of Object.entries(made)) {
        await assert.rejects(make, /changes/, what);
        assert.deepEqual(await readAll(), before, what);
      }
      await rename('changes_elsewhere', 'changes');
    });
  });
});
