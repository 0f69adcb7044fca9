import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addForgeRemote, GH_MISSING, startForge } from '../support/forge.ts';
import { type CallEngine, followIssue, writeJourneyYaml } from '../support/issue-journey.ts';
import { LOOKS, openChromium, openPage, setLook, withChromium } from '../support/server/chromium.ts';
import { typeForm } from '../support/server/inspect-page.ts';
import { PASSWORD } from '../support/server/linked-server.ts';
import { linkWorkspace } from '../support/server/linked-workspace.ts';

describe('an issue on a phone', { skip: GH_MISSING || withChromium.skip }, () => {
  it('a labelled issue becomes a merged pull request by taps on the page of a linked server', async (t) => {
    const forge = await startForge();
    t.after(forge.close);
    const linked = await linkWorkspace({ workspace: { yaml: writeJourneyYaml(forge), env: forge.env } });
    t.after(() => linked.close());
    const { here, server, id } = linked;
    addForgeRemote(forge, linked.ws);
    await linked.setDecide({ ann: ['page'] });
    const browser = await openChromium();
    t.after(() => browser.close());
    const { page, complaints } = await openPage(browser, server.url);
    await setLook(page, LOOKS[0]!);
    await page.goto(`${server.url}/sign-in`);
    await typeForm(page, { name: 'ann', password: PASSWORD });
    const call: CallEngine = (name, input) => here.callByName(name, input) as never;
    await followIssue(forge, call, async ({ decision, task }) => {
      await linked.waits(decision);
      await page.goto(`${server.url}/app/decisions/${id}/${decision}`);
      const text = (await page.locator('main').textContent()) ?? '';
      assert.ok(text.includes(task) && text.includes(task === 't-1' ? 'acme/shop#1' : 'acme/shop#2'), text);
      await page.getByRole('button', { name: 'Approve' }).click();
      assert.match((await page.locator('main').textContent()) ?? '', /Approved by ann/);
    });
    assert.deepEqual(complaints, []);
  });
});
