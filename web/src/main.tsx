import { render } from "preact";
import { setApi } from "./api/api";
import { httpApi } from "./api/http";
import { App } from "./app";
import { boot } from "./boot";
import { addOwnCommands } from "./commands/own";
import { takeKey } from "./commands/commands";
import { addOwnPanels } from "./details/panels";
import { addExtras } from "./extras";
import "./styles.css";

setApi(httpApi());
addOwnPanels();
addOwnCommands();
addExtras();
addEventListener("keydown", takeKey);
const root = document.getElementById("app");
if (root) render(<App />, root);
void boot();
