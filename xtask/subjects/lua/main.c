/* Runs a Lua script: main SCRIPT ARGUMENT... */
#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    int i;
    if (L == NULL || argc < 2) {
        fprintf(stderr, "usage: lua SCRIPT ARGUMENT...\n");
        return 2;
    }
    luaL_openlibs(L);
    lua_newtable(L);
    for (i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1);
    }
    lua_setglobal(L, "arg");
    if (luaL_dofile(L, argv[1])) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        lua_close(L);
        return 1;
    }
    lua_close(L);
    return 0;
}
