import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const german: GuidanceTexts = {
  entry_chair: sentence`Du entscheidest und verteilst die Arbeit: Was lange dauert, erledigen Worker; dein eigener Kontext gehört dem Ganzen.`,
  clarify_before_spawn: sentence`Kläre offene Fragen mit der Person, bevor du einen Worker startest; er kann nicht fragen, was du weggelassen hast.`,
  multiphase_tasks: sentence`Teile Arbeit mit mehreren Phasen mit {task.add} in eigene Aufgaben auf, jede mit überprüfbaren Kriterien.`,
  workers_no_fanout: sentence`Starte keine eigenen Worker oder Agenten. Ist die Aufgabe zu groß für einen, sag es mit {ask}.`,
  search_before_create: sentence`Suche nach vorhandenem Code, bevor du neuen schreibst, und verwende, was da ist.`,
  lock_shared: sentence`Sperre Gemeinsames mit {lock.acquire}, bevor du es änderst, und gib es mit {lock.release} frei, wenn du fertig bist.`,
  bus_only: sentence`Sprich mit anderen Sitzungen nur über {msg.send} und {ask}, nie über Dateien, Kommentare oder Commit-Nachrichten.`,
  disk_memory: sentence`Halte mit {memory.remember} fest, was die nächste Sitzung wissen soll, nicht in deinem Kontext; sieh mit {memory.recall} nach, bevor du entscheidest.`,
  crush: sentence`Halte lange Ausgaben aus deinem Kontext heraus: Leite sie in der Shell durch \`svc context crush\`; es lässt stehen, was zählt, und sagt, wie man an den Rest kommt.`,
  externalize: sentence`Lege einen langen Text, den du vielleicht wieder brauchst, mit {context.externalize} ab und behalte nur seine Kennung; {context.retrieve} gibt ihn zurück, {context.search} findet Teile davon.`,
  auto_gateway: sentence`Ausgaben von Werkzeugen können gekürzt bei dir ankommen: Was eine Zeile mit [svc-crush: oder [svc-stored: auslässt, gibt {context.retrieve} mit ihrer Kennung; führe den Befehl dafür nicht noch einmal aus.`,
};
